#pragma once

#include <vector>

#include "bench/measure.h"

namespace bench {

// Of the group `kernel`: sources as marks of nftables.
std::vector<Promise> marks_promises();
std::vector<Growth> marks_growth();

}  // namespace bench
