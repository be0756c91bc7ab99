#pragma once

#include <vector>

#include "cli/problem.h"

namespace cli {

// Nobody publishes, or not all controllers are ready; and what stands in the agents' way, by their Agent.
std::vector<Problem> controller_problems(const ClusterFacts& facts, meta::Time now);
std::vector<Problem> agent_problems(const ClusterFacts& facts);

// The word on an Agent, Ready or why not, or what is to be said while there is none on what it says now: that an
// earlier template was rolled out is no news of this one.
meta::Condition readiness(const api::Agent& agent);

}  // namespace cli
