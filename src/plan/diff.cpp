#include "plan/diff.h"

#include "plan/rules.h"

namespace plan {

Plan diff(const state::Observation& observed, const state::NetState& desired, const Ownership& ownership) {
  RuleChanges rules = diff_rules(state::state_of(observed), state::is_verified(observed), desired, ownership);
  Plan plan;
  plan.ops.reserve(rules.add.size() + rules.remove.size());
  for (AddRule& op : rules.add) plan.ops.emplace_back(std::move(op));
  for (Op& op : rules.remove) plan.ops.push_back(std::move(op));
  plan.clashes = std::move(rules.clashes);
  plan.refused = std::move(rules.refused);
  return plan;
}

}  // namespace plan
