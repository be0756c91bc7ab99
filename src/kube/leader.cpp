#include "kube/leader.h"

#include <array>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "json/reader.h"
#include "kube/reflector.h"
#include "runtime/signal.h"

namespace kube {
namespace {

using base::fail;
using base::Fault;
using base::now;

const Resource kLeases{"coordination.k8s.io", "v1", "leases", true};
constexpr auto kReleaseTime = std::chrono::seconds(2);
constexpr base::Duration::rep kNever = base::Duration::min().count();

std::string wall() {
  return micro_time(std::chrono::system_clock::now());
}

Result<Lease> decode(std::string_view body) {
  json::Reader reader;
  const json::Value object = TRY(reader.parse(body));
  return TRY(Lease::decode(object));
}

}  // namespace

std::string unique_identity() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"unknown"};
  return fmt::format("{}_{:016x}", host.data(), random_seed());
}

Leader::Leader(Client& client, Key lease, std::string identity, const ElectionTiming& timing)
    : client_(client),
      key_(std::move(lease)),
      elector_(std::move(identity), timing, random_seed()),
      held_until_(kNever) {}

base::Status Leader::acquire(std::stop_token stop) {
  while (!elector_.leading(now())) {
    if (stop.stop_requested()) {
      if (elector_.may_have_claimed()) release();
      return fail(Fault::cancelled, "stopped before leading");
    }
    TRY(step(stop));
  }
  base::log::info("leading", {{"lease", key_.text()}});
  return {};
}

base::Status Leader::hold(std::stop_token stop) {
  while (!stop.stop_requested()) TRY(step(stop));
  release();
  return {};
}

bool Leader::leading() const {
  return now().time_since_epoch().count() < held_until_;
}

class Leader::Talk {
 public:
  Talk(Leader& leader, std::stop_token stop) : leader_(leader), stop_(std::move(stop)) {}

  base::Status operator()(const Elector::Wait& wait) {
    (void)runtime::Signal().wait(stop_, wait.until);
    return {};
  }
  base::Status operator()(const Elector::Read& read) {
    auto lease = leader_.read({.deadline = read.deadline, .stop = stop_, .urgent = true});
    if (lease) {
      leader_.elector_.saw(*std::move(lease), now());
    } else {
      leader_.failed(lease.error());
    }
    return {};
  }
  base::Status operator()(const Elector::Write& write) {
    auto stored = leader_.write(write.lease, {.deadline = write.deadline, .stop = stop_, .urgent = true});
    if (stored) {
      leader_.elector_.wrote(*std::move(stored), now());
    } else {
      leader_.failed(stored.error());
    }
    return {};
  }
  base::Status operator()(const Elector::Lost& lost) {
    return fail(Fault::conflict, fmt::format("lease {} lost: {}", leader_.key_.text(), lost.reason));
  }

 private:
  Leader& leader_;
  std::stop_token stop_;
};

base::Status Leader::step(std::stop_token stop) {
  const base::Status done = std::visit(Talk(*this, std::move(stop)), elector_.next(now(), wall()));
  publish();
  return done;
}

Result<std::optional<Lease>> Leader::read(const Limit& limit) {
  const auto body = client_.get(kLeases, key_, limit);
  if (!body && body.error().fault() == Fault::absent) return std::nullopt;
  if (!body) return std::unexpected(body.error());
  return TRY(decode(*body));
}

Result<Lease> Leader::write(const Lease& lease, const Limit& limit) {
  const bool fresh = lease.resource_version.empty();
  const auto body = fresh ? client_.create(kLeases, key_.ns, encode_new(lease, key_.name, key_.ns), limit)
                          : client_.patch(kLeases, key_, PatchType::merge, encode_claim(lease), limit);
  if (!body) return std::unexpected(body.error());
  return decode(*body);
}

// Losing a race for the lease is no news; any other failure is, once until it changes.
void Leader::failed(const Error& error) {
  elector_.failed(now());
  if (error.fault() == Fault::conflict || error.fault() == Fault::cancelled) return;
  if (std::exchange(told_, error.message()) == error.message()) return;
  base::log::warning("lease not reached, will try again", {{"lease", key_.text()}, {"err", error.message()}});
}

// What cannot be released expires by itself.
void Leader::release() {
  Limit limit = within(kReleaseTime);
  limit.urgent = true;
  if (!elector_.current()) {  // The stop came in the midst of a write.
    if (auto lease = read(limit)) elector_.saw(*std::move(lease), now());
  }
  const auto freed = elector_.release(wall());
  publish();
  if (!freed) return;
  const auto released = write(*freed, limit);
  base::log::info(released ? "lease released" : "lease not released, it will expire", {{"lease", key_.text()}});
}

void Leader::publish() {
  held_until_ = elector_.held_until().value_or(base::TimePoint(base::Duration::min())).time_since_epoch().count();
}

}  // namespace kube
