#pragma once

#include <cstdint>

#include "path/packet.h"
#include "state/net_state.h"

// Part of walk.cpp.
namespace path {

// The table of the VRF that the packet is in; 0: in none.
std::uint32_t vrf_table(const state::NetState& observed, const Packet& packet);

// fib_rule_match()
bool matches(const state::Rule& rule, const Packet& packet, const state::NetState& observed);

}  // namespace path
