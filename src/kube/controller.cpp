#include "kube/controller.h"

#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/log.h"

namespace kube {
namespace {

Outcome outcome_of(const base::Result<Next>& result) {
  if (!result) return Outcome::error;
  switch (result->when()) {
    case Next::When::on_change:
      return Outcome::success;
    case Next::When::after:
    case Next::When::put_off:
      return Outcome::requeue_after;
    case Next::When::retry:
      return Outcome::requeue;
    case Next::When::failed:
      return Outcome::error;
  }
  return Outcome::success;
}

}  // namespace

std::string_view text(Outcome outcome) {
  switch (outcome) {
    case Outcome::success:
      return "success";
    case Outcome::error:
      return "error";
    case Outcome::requeue:
      return "requeue";
    case Outcome::requeue_after:
      return "requeue_after";
  }
  return "error";
}

Controller::Controller(ControllerOptions options, Reconcile reconcile, Observer observe)
    : options_(std::move(options)),
      reconcile_(std::move(reconcile)),
      observe_(std::move(observe)),
      queue_(options_.tuning) {
  for (unsigned i = 0; i < options_.workers; ++i) {
    heartbeats_.emplace_back(fmt::format("{} worker {}", options_.name, i + 1), options_.stuck_after, clock_);
  }
}

void Controller::add_to(runtime::Health& health) const {
  for (const runtime::Heartbeat& heartbeat : heartbeats_) health.add(heartbeat);
}

void Controller::run(std::stop_token stop) {
  std::vector<std::jthread> workers;
  for (runtime::Heartbeat& heartbeat : heartbeats_) {
    workers.emplace_back([this, &heartbeat, stop] { work(heartbeat, stop); });
  }
}

void Controller::work(runtime::Heartbeat& heartbeat, std::stop_token stop) {
  while (const auto key = queue_.take(stop)) {
    heartbeat.beat();
    ++active_;
    queue_.done(*key, pass(*key, stop));
    --active_;
    heartbeat.rest();
  }
}

Next Controller::pass(const WorkKey& key, std::stop_token stop) {
  const base::TimePoint start = clock_.now();
  const base::Result<Next> result = reconcile_(key, std::move(stop));
  if (observe_) {
    observe_({.outcome = outcome_of(result), .waited = queue_.waited(key), .took = clock_.now() - start});
  }
  const base::Error* const why = result ? result->why() : &result.error();
  if (why != nullptr && why->fault() != base::Fault::cancelled) {
    base::log::error("reconcile failed, will try again",
                     {{"controller", options_.name}, {"key", key}, {"err", why->message()}});
  }
  return result ? *result : Next::retry();
}

}  // namespace kube
