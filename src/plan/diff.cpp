#include "plan/diff.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "plan/marking.h"
#include "plan/objects.h"
#include "plan/rules.h"

namespace plan {

Plan diff(const state::Observation& observed, const state::NetState& desired, const Ownership& ownership) {
  const state::NetState& seen = state::state_of(observed);
  const bool verified = state::is_verified(observed);
  RuleChanges rules = diff_rules(seen, verified, desired, ownership);
  // What stands on what; rules stand on all of it.
  std::array<Changes, 4> below = {diff_links(seen, desired, ownership), diff_addresses(seen, desired, ownership),
                                  diff_nexthops(seen, verified, desired, ownership),
                                  diff_routes(seen, verified, desired, ownership)};
  Plan plan;
  plan.ops.reserve(rules.add.size() + rules.remove.size());
  for (Changes& changes : below) {
    std::ranges::move(changes.make, std::back_inserter(plan.ops));
    std::ranges::move(changes.obstacles, std::back_inserter(plan.obstacles));
  }
  for (AddRule& op : rules.add) plan.ops.emplace_back(std::move(op));
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
