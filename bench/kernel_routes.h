#pragma once

#include "bench/measure.h"

namespace bench {

// Of the group `kernel`: host routes of one table.
Promise routes_promise();

}  // namespace bench
