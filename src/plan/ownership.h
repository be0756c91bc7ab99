#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "state/net_state.h"

namespace plan {

// Ownership lives in the kernel: what carries one of our numbers is ours, whoever made it; everything else is foreign
// and is never changed, but for rules that were handed over: by the old project (plan/adoption.h), or by an
// administrator (plan/foreign_rules.h).
struct Ownership {
  std::vector<std::uint8_t> protocols = {183};
  std::vector<state::Rule> adopted{};  // In order.

  bool owns(std::uint8_t protocol) const { return std::ranges::find(protocols, protocol) != protocols.end(); }
  bool owns(const state::Rule& rule) const {
    return owns(rule.protocol) || (!adopted.empty() && std::ranges::binary_search(adopted, rule));
  }
  bool owns(const state::OpaqueRule& rule) const { return owns(rule.protocol); }
  bool owns(const state::Route& route) const { return owns(route.protocol); }
  bool owns(const state::OpaqueRoute& route) const { return owns(route.protocol); }
  bool owns(const state::Nexthop& nexthop) const { return owns(nexthop.protocol); }
  bool owns(const state::InterfaceAddress& address) const { return owns(address.protocol); }
  bool owns(const state::Link& link) const { return state::owner_of(link.alias).has_value(); }
  bool owns(const state::ObservedLink& seen) const { return owns(seen.link); }
};

}  // namespace plan
