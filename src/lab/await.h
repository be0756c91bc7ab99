#pragma once

#include <functional>

#include "base/clock.h"

namespace lab {

// Waits for a fact, at most `bound`; whether it came. A check costs little or waits by itself; between two checks there
// is a short pause. For where nothing can be blocked on.
bool await(base::Duration bound, const std::function<bool()>& fact);

}  // namespace lab
