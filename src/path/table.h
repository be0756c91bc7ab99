#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "path/packet.h"
#include "state/net_state.h"

// Part of walk.cpp.
namespace path {

struct Found {
  const state::Route* route = nullptr;              // None: the table has nothing for the packet.
  std::vector<state::RouteHop> hops{};              // Of a unicast route: those that can be used.
  std::vector<const state::OpaqueRoute*> unread{};  // Could have answered, and are not understood.
};

// fib_table_lookup(), fib6_table_lookup(): the longest prefix, then the lowest metric, of those with a way out that
// works.
Found look_up(const state::NetState& observed, std::uint32_t table, const Packet& packet);

}  // namespace path
