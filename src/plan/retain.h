#pragma once

#include "plan/ownership.h"
#include "state/net_state.h"

namespace plan {

// `desired` and, for want of better knowledge, what stands of ours in the kernel: what cannot be named as unwanted
// stays. Where the two differ about one thing, `desired` counts.
state::NetState retain(state::NetState desired, const state::NetState& observed, const Ownership& ownership);

}  // namespace plan
