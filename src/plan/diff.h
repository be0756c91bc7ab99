#pragma once

#include "plan/ownership.h"
#include "plan/plan.h"
#include "state/net_state.h"

namespace plan {

// What turns the observed state into the desired one. Only own objects are removed; a foreign twin of a desired object
// is reported. The plan does not depend on the order of desired objects.
//
// Links, addresses, nexthops, routes, rules are made in this order and unmade in the other, so a rule never points at a
// table that lacks the routes it is there for; over a table in which one of them cannot be, no rule is wanted. Between
// the two stands the change of our nft table: packets get a mark when the rules for it are there, and lose it before
// these go. Where that table could not be read nothing is removed.
//
// From an unverified observation come only operations that are right on any view: exclusive adds of what was not seen
// and removals of what nobody wants. Copies are left for a verified one, for a copy may be an echo.
Plan diff(const state::Observation& observed, const state::NetState& desired, const Ownership& ownership);

// Only a verified observation can say that the desired state is reached.
inline bool reached(const state::Verified& observed, const state::NetState& desired, const Ownership& ownership) {
  return diff(observed, desired, ownership).empty();
}

}  // namespace plan
