#pragma once

#include "plan/ownership.h"
#include "state/net_state.h"

namespace plan {

// Whether more than 20 addresses that we steer, and more than half of them, would no longer be steered in `desired`, be
// it by rules or by marks. That may be what somebody wants; it may also be a mistake further up, so it deserves a
// second look at what is wanted.
bool is_mass_removal(const state::NetState& observed, const state::NetState& desired, const Ownership& ownership);

}  // namespace plan
