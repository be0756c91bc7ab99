#pragma once

#include <vector>

#include "cli/problem.h"

namespace cli {

// What nodes report that is not as it should be, and those whose agent does not live to report; by cause.
std::vector<Problem> node_problems(const ClusterFacts& facts);

}  // namespace cli
