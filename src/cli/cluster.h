#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "cli/cluster_objects.h"
#include "cli/status.h"

namespace cli {

struct ClusterOptions {
  std::filesystem::path kubeconfig;  // Empty: KUBECONFIG, the pod's account, ~/.kube/config.
  std::string context;               // Empty: the current one.
  std::chrono::seconds timeout{10};  // For each question.
};

// Both ask the API server. An error only where there is nothing to ask with; what the server does not answer is a gap.
base::Result<ClusterFacts> read_cluster(const ClusterOptions& options);
base::Result<ClusterObjects> read_objects(const ClusterOptions& options);

}  // namespace cli
