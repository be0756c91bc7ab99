#pragma once

#include <string>
#include <vector>

#include "agent/manifests.h"
#include "base/result.h"
#include "cli/answer.h"
#include "cli/cluster_objects.h"

namespace cli {

// What the nodes of a cluster would change if the manifests were applied to it, from what its objects say now. No
// kernel is asked: it is taken to hold what is wanted of it today, which `diff` tells about.
// Nodes that would do the same are told once, unless the plan is to be `full`.
base::Result<Answer> plan_in_cluster(const ClusterObjects& objects, const agent::Manifests& changes,
                                     const std::vector<std::string>& nodes, bool full = false);

}  // namespace cli
