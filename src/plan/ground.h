#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>

#include "net/address.h"
#include "plan/ownership.h"
#include "state/net_state.h"

namespace plan {

struct RouteTable {
  net::Family family = net::Family::v4;
  std::uint32_t number = 0;

  auto operator<=>(const RouteTable&) const = default;
};
using RouteTables = std::set<RouteTable>;

std::string text(const RouteTable& table);  // "IPv4 table 7"

// The table on whose routes a rule stands. None for a rule that looks up nothing, and for the kernel's own tables: what
// is in them is looked up without us as well.
std::optional<RouteTable> ground_of(const state::Rule& rule);
inline RouteTable table_of(const state::Route& route) {
  return {.family = route.family, .number = route.table};
}

// Tables that lack a route which is wanted there: no route of ours is in its place. One that is ours and differs still
// answers as before, so it counts.
RouteTables lacking_tables(const state::Verified& observed, const state::NetState& desired, const Ownership& ownership);

// A rule and the routes of its table are wanted together: alone it would send packets to whatever else is in that
// table, or let them fall through to the next rule. So without these routes the rules are not wanted.
state::NetState without_rules_over(const RouteTables& tables, state::NetState desired);

}  // namespace plan
