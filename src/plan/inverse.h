#pragma once

#include "plan/plan.h"

namespace plan {

// The plan that leads back, in the opposite order, so it too makes before it breaks. Three things cannot be taken
// back and are left out: a new link, which has no index yet and harms nobody, what an opaque object was, and a change
// to our nft table, which does not say what was there before it.
Plan inverse(const Plan& plan);

}  // namespace plan
