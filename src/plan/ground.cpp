#include "plan/ground.h"

#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace plan {

std::string text(const RouteTable& table) {
  return fmt::format("{} table {}", net::text(table.family), table.number);
}

std::optional<RouteTable> ground_of(const state::Rule& rule) {
  if (rule.action != state::RuleAction::lookup || rule.l3mdev) return std::nullopt;
  if (!state::validate_table(rule.table)) return std::nullopt;
  return RouteTable{.family = rule.family, .number = rule.table};
}

RouteTables lacking_tables(const state::Verified& observed, const state::NetState& desired,
                           const Ownership& ownership) {
  if (desired.routes.empty()) return {};
  std::unordered_set<state::RouteKey> own;
  for (const state::Route& route : observed.state.routes) {
    if (ownership.owns(route)) own.insert(key(route));
  }
  for (const state::OpaqueRoute& route : observed.state.opaque_routes) {
    if (ownership.owns(route)) own.insert(route.key);
  }
  RouteTables out;
  for (const state::Route& route : desired.routes) {
    if (!own.contains(key(state::canonical(route)))) out.insert(table_of(route));
  }
  return out;
}

state::NetState without_rules_over(const RouteTables& tables, state::NetState desired) {
  std::erase_if(desired.rules, [&](const state::Rule& rule) {
    const auto ground = ground_of(rule);
    return ground && tables.contains(*ground);
  });
  return desired;
}

}  // namespace plan
