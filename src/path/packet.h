#pragma once

#include <cstdint>

#include "net/address.h"
#include "net/interface_name.h"

namespace path {

// A packet at the moment its route is chosen: after marks are set and destinations translated, before sources are.
struct Packet {
  net::Address from{};  // 0.0.0.0 or ::, where the host sends and has not chosen one yet.
  net::Address to{};
  net::InterfaceName iif{};  // Where it came in; none: this host sends it.
  net::InterfaceName oif{};  // The one its socket is bound to.
  std::uint32_t mark = 0;
  std::uint8_t tos = 0;
  std::uint8_t ip_protocol = 6;
  std::uint16_t sport = 0;
  std::uint16_t dport = 0;
  std::uint32_t uid = 0;  // Of the sender; packets that came in have 0.
};

}  // namespace path
