#pragma once

#include "plan/plan.h"

namespace plan {

// The plan that leads back, in the opposite order, so it too makes before it breaks. Two things cannot be taken back
// and are left out: a new link, which has no index yet and harms nobody, and what an opaque object was.
Plan inverse(const Plan& plan);

}  // namespace plan
