#pragma once

#include <cstdint>
#include <vector>

#include "net/prefix.h"
#include "plan/ownership.h"
#include "state/net_state.h"

namespace plan {

// Which rules of others an administrator has given into our hands, by what they steer and not by who made them.
struct ForeignScope {
  std::vector<net::Prefix> sources{};   // The source of a rule is one address in one of these; empty: any address.
  std::vector<std::uint32_t> tables{};  // Empty: any.
  std::uint32_t first_priority = 1;
  std::uint32_t last_priority = 32765;  // What stands before `main`.
  bool includes_qualified = false;      // Also those that ask for more than a source, a mark or an interface say.

  bool operator==(const ForeignScope&) const = default;
};

// The rules within it, in the kernel's order. Never the kernel's own, never ours, none that cannot be read whole.
std::vector<state::Rule> foreign_rules(const ForeignScope& scope, const state::NetState& observed,
                                       const Ownership& ownership);

// All of others', qualified or not: neither the kernel's own nor ours.
std::vector<state::Rule> rules_of_others(const state::NetState& observed, const Ownership& ownership);

}  // namespace plan
