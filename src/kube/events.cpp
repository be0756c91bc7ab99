#include "kube/events.h"

#include "base/log.h"
#include "kube/reflector.h"

namespace kube {
namespace {

using base::Fault;
using base::now;
using Failure = EventJournal::Failure;

const Resource kEvents{"events.k8s.io", "v1", "events", true};
constexpr auto kEventTime = std::chrono::seconds(10);

}  // namespace

Failure failure_of(const Error& error, const EventJournal::Write& write) {
  switch (error.fault()) {
    case Fault::absent:
      return write.create ? Failure::final : Failure::gone;  // The name space has gone; the Event has expired.
    case Fault::conflict:
      return write.create ? Failure::known : Failure::passing;
    case Fault::invalid:
    case Fault::denied:
      return Failure::final;
    default:
      return Failure::passing;
  }
}

Events::Events(Client& client, EventReporter reporter)
    : client_(client),
      reporter_(std::move(reporter)),
      journal_(random_seed()),
      thread_([this](std::stop_token stop) { run(std::move(stop)); }) {}

void Events::record(Notice notice) {
  journal_.change(
      [&](EventJournal& journal) { journal.add(std::move(notice), now(), std::chrono::system_clock::now()); });
}

std::uint64_t Events::dropped() const {
  return journal_.read([](const EventJournal& journal) { return journal.dropped(); });
}

void Events::run(std::stop_token stop) {
  const auto take = [](EventJournal& journal) { return journal.next(now()); };
  const auto due = [](const EventJournal& journal) { return journal.next_due(now()); };
  while (!stop.stop_requested()) {
    if (const auto write = journal_.wait(stop, take, due)) send(*write, stop);
  }
}

void Events::send(const EventJournal::Write& write, std::stop_token stop) {
  const Limit limit = within(kEventTime, std::move(stop));
  const auto answer = write.create ? client_.create(kEvents, write.event.ns, encode_event(write, reporter_), limit)
                                   : client_.patch(kEvents, write.event, PatchType::merge, encode_series(write), limit);
  journal_.change([&](EventJournal& journal) {
    answer ? journal.wrote(write) : journal.failed(write, failure_of(answer.error(), write));
  });
  if (!answer) {
    base::log::debug("event not written", {{"event", write.event.text()}, {"err", answer.error().message()}});
  }
}

}  // namespace kube
