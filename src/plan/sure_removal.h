#pragma once

#include "plan/ownership.h"
#include "state/net_state.h"

namespace plan {

// Whether a request to remove this rule, which is not of our making, takes it and no other of somebody else's. Such a
// request takes the first rule of that priority that has its selector, whatever else that one has; and of a rule that
// cannot be read nobody knows what a request would take it for.
bool removal_is_sure(const state::Rule& rule, const state::NetState& observed, const Ownership& ownership);

}  // namespace plan
