#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/address.h"
#include "path/packet.h"

namespace cli {

// A packet as a person writes it.
struct PacketWords {
  std::string from;
  std::string to;
  std::string iif;
  std::string oif;
  std::string mark;
  std::string reply_of;  // The load balancer address of the connection that the packet answers.
  std::string proto;
  std::uint16_t sport = 0;
  std::uint16_t dport = 0;

  bool operator==(const PacketWords&) const = default;
};
base::Result<path::Packet> parse_packet(const PacketWords& words);
base::Result<std::optional<net::Address>> parse_reply_of(const PacketWords& words);

// "10.244.1.7 -> 198.18.7.9 tcp to port 80, comes in by cni0"
std::string describe(const path::Packet& packet);

}  // namespace cli
