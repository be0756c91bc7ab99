#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/nft/expression.h"
#include "net/address.h"

namespace kernel::nft {

// Of a packet, as it was when the kernel told of it.
struct TracedHeader {
  net::Address from{};
  net::Address to{};
  std::uint8_t ip_protocol = 0;
  std::uint16_t sport = 0;  // 0: it has none, is no first fragment, or they stand behind another header of IPv6.
  std::uint16_t dport = 0;

  bool operator==(const TracedHeader&) const = default;
};

// What the kernel tells of a traced packet at one place: a rule that took it, the return from a chain, or the end of
// one that the kernel itself calls.
struct TraceEvent {
  enum class At : std::uint8_t { rule, end_of_chain, policy };

  std::uint32_t id = 0;  // The same for a packet as long as it is in this host; later perhaps another's.
  std::string family{};  // Of the table: "inet", "ip"
  std::string table{};
  std::string chain{};
  At at = At::rule;
  std::uint64_t rule = 0;  // Its handle, where it is one.
  Verdict verdict{};
  std::uint32_t mark = 0;
  // With the first event of each chain that the kernel calls; the header of IP packets alone.
  std::uint32_t iif = 0;
  std::uint32_t oif = 0;
  std::optional<TracedHeader> header{};
};

base::Result<TraceEvent> decode_trace(const Received& message);

// "jump reply", "accept", "continue"
std::string text(const Verdict& verdict);

}  // namespace kernel::nft
