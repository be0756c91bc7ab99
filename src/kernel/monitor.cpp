#include "kernel/monitor.h"

#include <array>
#include <cerrno>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/eventfd.h>

namespace kernel {
namespace {

constexpr std::array<int, 8> kGroups = {
    RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE,   RTNLGRP_IPV4_ROUTE,  RTNLGRP_IPV6_ROUTE,
    RTNLGRP_LINK,      RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_NEXTHOP,
};

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
    default:
      return {};
  }
}

}  // namespace

base::Result<std::unique_ptr<Monitor>> Monitor::start(std::uint32_t own_port, runtime::Signal& changed,
                                                      std::size_t buffer) {
  auto socket = TRY(EventSocket::open(Bus::route, kGroups, buffer));
  base::Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return base::fail_errno("eventfd", errno);
  return std::unique_ptr<Monitor>(new Monitor(std::move(socket), std::move(wake), own_port, changed));
}

Monitor::Monitor(EventSocket socket, base::Fd wake, std::uint32_t own_port, runtime::Signal& changed)
    : socket_(std::move(socket)),
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

void Monitor::run(const std::stop_token& stop) {
  std::array<pollfd, 2> watched = {
      pollfd{.fd = socket_.fd(), .events = POLLIN, .revents = 0},
      pollfd{.fd = wake_.get(), .events = POLLIN, .revents = 0},
  };
  while (!stop.stop_requested()) {
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;  // EINTR: look again.
    std::uint8_t seen = 0;
    const auto drained = socket_.drain([&](const Received& event) {
      if (event.port == own_port_) return;
      foreign_events_.fetch_add(1, std::memory_order_relaxed);
      seen = static_cast<std::uint8_t>(seen | kinds_of(event.type).bits());
    });
    // Lost or unreadable events mean the same: anything may have changed.
    const bool whole = drained && !drained->lost;
    if (!whole) overruns_.fetch_add(1, std::memory_order_relaxed);
    note(whole ? Kinds::of_bits(seen) : Kinds::all());
  }
}

}  // namespace kernel
