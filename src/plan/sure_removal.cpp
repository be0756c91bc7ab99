#include "plan/sure_removal.h"

#include <algorithm>

#include "state/rule_match.h"

namespace plan {
namespace {

bool has_opaque_neighbour(const state::Rule& rule, const state::NetState& observed) {
  return std::ranges::any_of(observed.opaque_rules, [&](const state::OpaqueRule& other) {
    return other.family == rule.family && other.priority == rule.priority;
  });
}

}  // namespace

bool removal_is_sure(const state::Rule& rule, const state::NetState& observed, const Ownership& ownership) {
  if (has_opaque_neighbour(rule, observed)) return false;
  const auto first =
      std::ranges::find_if(observed.rules, [&](const state::Rule& other) { return state::delete_takes(rule, other); });
  // Ours in its place is put back, and stands behind it then.
  return first != observed.rules.end() && (*first == rule || ownership.owns(*first));
}

}  // namespace plan
