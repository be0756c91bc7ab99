#pragma once

#include <string>
#include <vector>

#include "agent/manifests.h"
#include "base/result.h"
#include "cli/answer.h"
#include "cli/ask_node.h"
#include "cli/cluster_objects.h"

namespace cli {

struct ClusterPlanOptions {
  std::vector<std::string> nodes{};  // Only these; empty: all.
  bool full = false;                 // Also nodes that would do the same are told one by one.
  AskNode ask{};  // Asks the kernels of the nodes; without it, or where it fails, objects have to do.
};

// What the nodes of a cluster would change if the manifests were applied to it: first what the manifests change, and
// what is wrong or surprising in that, then what each node would do. A kernel that is not asked is taken to hold what
// is wanted of it today, which `diff` tells about.
base::Result<Answer> plan_in_cluster(const ClusterObjects& objects, const agent::Manifests& changes,
                                     const ClusterPlanOptions& options);

}  // namespace cli
