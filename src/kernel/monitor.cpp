#include "kernel/monitor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/eventfd.h>

namespace kernel {
namespace {

using namespace std::chrono_literals;

constexpr std::array<int, 9> kGroups = {
    RTNLGRP_IPV4_RULE,   RTNLGRP_IPV6_RULE,   RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,   RTNLGRP_LINK,
    RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_NEXTHOP,    RTNLGRP_IPV4_NETCONF,
};

constexpr auto kBetweenRoutes = 1s;

Kinds kinds_of(std::uint16_t type) {
  switch (type) {
    case RTM_NEWRULE:
    case RTM_DELRULE:
      return {Kind::rule};
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
      return {Kind::route};
    case RTM_NEWLINK:
    case RTM_DELLINK:
      return {Kind::link};
    case RTM_NEWADDR:
    case RTM_DELADDR:
      return {Kind::address};
    case RTM_NEWNEXTHOP:
    case RTM_DELNEXTHOP:
      return {Kind::nexthop};
    case RTM_NEWNETCONF:
    case RTM_DELNETCONF:
      return {Kind::setting};
    default:
      return {};
  }
}

// Milliseconds for poll(), rounded up; -1: for ever.
int until(std::optional<base::TimePoint> due) {
  if (!due) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

}  // namespace

base::Result<std::unique_ptr<Monitor>> Monitor::start(std::uint32_t own_port, runtime::Signal& changed,
                                                      std::size_t buffer) {
  auto socket = TRY(EventSocket::open(Bus::route, kGroups, buffer));
  base::Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return base::fail_errno("eventfd", errno);
  auto nft = nft::Watch::open();
  return std::unique_ptr<Monitor>(new Monitor(std::move(socket), nft ? std::optional(*std::move(nft)) : std::nullopt,
                                              std::move(wake), own_port, changed));
}

Monitor::Monitor(EventSocket socket, std::optional<nft::Watch> nft, base::Fd wake, std::uint32_t own_port,
                 runtime::Signal& changed)
    : socket_(std::move(socket)),
      nft_(std::move(nft)),
      wake_(std::move(wake)),
      own_port_(own_port),
      changed_(changed),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Monitor::~Monitor() {
  thread_.request_stop();
  (void)::eventfd_write(wake_.get(), 1);  // Cannot fail: the counter is far from its end.
}

Kinds Monitor::take() {
  return Kinds::of_bits(kinds_.exchange(0));
}

void Monitor::note(Kinds kinds) {
  if (kinds.empty()) return;
  kinds_.fetch_or(kinds.bits());
  changed_.raise();
}

Kinds Monitor::drain() {
  Kinds seen;
  const auto drained = socket_.drain([&](const Received& event) {
    if (event.port == own_port_) return;
    foreign_events_.fetch_add(1, std::memory_order_relaxed);
    seen.add(kinds_of(event.type));
  });
  // Lost or unreadable events mean the same: anything may have changed.
  if (!drained || drained->lost) {
    overruns_.fetch_add(1, std::memory_order_relaxed);
    return Kinds::all();
  }
  if (nft_ && nft_->foreign_change().value_or(true)) {
    foreign_events_.fetch_add(1, std::memory_order_relaxed);
    seen.add(Kind::nft);
  }
  return seen;
}

void Monitor::run(const std::stop_token& stop) {
  std::array<pollfd, 3> watched = {
      pollfd{.fd = socket_.fd(), .events = POLLIN, .revents = 0},
      pollfd{.fd = nft_ ? nft_->fd() : -1, .events = POLLIN, .revents = 0},  // -1 is passed over.
      pollfd{.fd = wake_.get(), .events = POLLIN, .revents = 0},
  };
  base::TimePoint routes_told{};
  std::optional<base::TimePoint> routes_due;
  while (!stop.stop_requested()) {
    if (::poll(watched.data(), watched.size(), until(routes_due)) < 0) continue;  // EINTR: look again.
    Kinds seen = drain();
    const auto now = std::chrono::steady_clock::now();
    if (seen.contains(Kind::route) && !routes_due) routes_due = routes_told + kBetweenRoutes;
    seen.remove(Kind::route);
    if (routes_due && now >= *routes_due) {
      seen.add(Kind::route);
      routes_told = now;
      routes_due.reset();
    }
    note(seen);
  }
}

}  // namespace kernel
