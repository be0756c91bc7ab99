#include "plan/diff.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_set>

#include <fmt/format.h>

#include "plan/ground.h"
#include "plan/marking.h"
#include "plan/objects.h"
#include "plan/rules.h"

namespace plan {
namespace {

// What is wanted of rules where some tables cannot have their routes. A rule that stands over such a table goes on a
// verified view only: on another the table may be well.
state::NetState standing_rules(const state::NetState& seen, bool verified, const state::NetState& desired,
                               const RouteTables& without) {
  state::NetState out = without_rules_over(without, {.rules = desired.rules});
  if (verified) return out;
  std::unordered_set<state::Rule> there(seen.rules.begin(), seen.rules.end());
  for (const state::Rule& rule : out.rules) there.erase(rule);
  std::ranges::copy_if(desired.rules, std::back_inserter(out.rules),
                       [&](const state::Rule& rule) { return there.contains(rule); });
  return out;
}

}  // namespace

Plan diff(const state::Observation& observed, const state::NetState& desired, const Ownership& ownership) {
  const state::NetState& seen = state::state_of(observed);
  const bool verified = state::is_verified(observed);
  // What stands on what; rules stand on all of it.
  std::array<Changes, 4> below = {diff_links(seen, desired, ownership), diff_addresses(seen, desired, ownership),
                                  diff_nexthops(seen, verified, desired, ownership),
                                  diff_routes(seen, verified, desired, ownership)};
  const RouteTables& without = below.back().without;
  RuleChanges rules = without.empty()
                          ? diff_rules(seen, verified, desired, ownership)
                          : diff_rules(seen, verified, standing_rules(seen, verified, desired, without), ownership);
  Plan plan;
  plan.ops.reserve(rules.add.size() + rules.remove.size());
  for (Changes& changes : below) {
    std::ranges::move(changes.make, std::back_inserter(plan.ops));
    std::ranges::move(changes.obstacles, std::back_inserter(plan.obstacles));
  }
  for (const RouteTable& table : without) {
    const auto is_over = [&](const state::Rule& rule) { return ground_of(rule) == table; };
    if (std::ranges::none_of(desired.rules, is_over)) continue;
    plan.obstacles.push_back({.desired = fmt::format("rules that look up {}", text(table)),
                              .reason = "it lacks a route that is wanted there"});
  }
  for (const AddRule& op : rules.add) plan.ops.emplace_back(op);
  plan.clashes = std::move(rules.clashes);
  plan.refused = std::move(rules.refused);
  Changes marking = diff_nft(seen, desired);
  std::ranges::move(marking.make, std::back_inserter(plan.ops));
  const bool is_stuck = !marking.obstacles.empty() || !seen.nft_unknown.empty();
  std::ranges::move(marking.obstacles, std::back_inserter(plan.obstacles));
  if (is_stuck) return plan;  // Packets may still need what would go.
  for (Op& op : rules.remove) plan.ops.push_back(std::move(op));
  for (auto changes = below.rbegin(); changes != below.rend(); ++changes) {
    std::ranges::move(changes->unmake, std::back_inserter(plan.ops));
  }
  return plan;
}

}  // namespace plan
