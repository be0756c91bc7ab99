#include "kernel/nft/trace.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <linux/netfilter/nfnetlink.h>
#include <poll.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "kernel/nft/lookup.h"
#include "kernel/nft/trace_table.h"
#include "kernel/nft/trace_wait.h"

namespace kernel::nft {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20U;

// The kernel's own word stands in front; behind it what that means here.
base::Error explained(const base::Error& error) {
  const int number = error.errno_value();
  const bool forbidden = number == EPERM || number == EACCES;
  const bool lacks = number == ENOENT || is_missing(error);
  return {error.fault(), fmt::format("packets cannot be traced here: {}{}", error.message(),
                                     forbidden ? "; it takes CAP_NET_ADMIN"
                                     : lacks   ? "; it takes nftables with table owners (Linux 5.12) and limits"
                                               : "")};
}

}  // namespace

base::Result<Trace> Trace::open(const path::Packet& flow) {
  constexpr std::array<int, 1> kGroups = {NFNLGRP_NFTRACE};
  auto events = EventSocket::open(Bus::netfilter, kGroups, kBuffer);
  if (!events) return std::unexpected(explained(events.error()));
  Socket owner = TRY(Socket::open(Bus::netfilter));
  // Ports of sockets are unique in a namespace, process numbers need not be: it may be seen from several.
  std::string table = fmt::format("iprule-trace-{}", owner.port());
  const base::Status made = commit(owner, trace_table(table, flow));
  if (!made) return std::unexpected(explained(made.error()));
  return Trace(*std::move(events), std::move(owner), std::move(table));
}

base::Result<Trace::Seen> Trace::watch(std::size_t count, base::TimePoint deadline) {
  TracedPackets traced(table_);
  TraceWait wait(count, deadline);
  Seen out;
  do {
    pollfd ready{.fd = events_.fd(), .events = POLLIN, .revents = 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::max<base::Duration>(wait.until() - base::SteadyClock().now(), base::Duration::zero()));
    if (::poll(&ready, 1, static_cast<int>(left.count())) < 0 && errno != EINTR) return base::fail_errno("poll", errno);
    const auto drained = TRY(events_.drain([&](const Received& message) {
      const auto event = decode_trace(message);
      if (event) {
        traced.take(*event);
      } else {
        out.lost = true;  // Perhaps of somebody else's packet; whoever it is, the others go on.
      }
    }));
    out.lost = out.lost || drained.lost;
  } while (wait.goes_on(traced, base::SteadyClock().now()));
  const auto& packets = traced.packets();
  out.packets.assign(packets.begin(), packets.begin() + static_cast<std::ptrdiff_t>(std::min(count, packets.size())));
  return out;
}

}  // namespace kernel::nft
