#pragma once

#include <set>
#include <string>

#include "cli/answer.h"
#include "cli/cluster_objects.h"
#include "cli/finding.h"

namespace cli {

struct AnalyzeOptions {
  Severity fail_on = Severity::warning;
  std::set<std::string> ignored;  // Codes.
};

// What is wrong or surprising in the objects: of manifests by themselves, or in a cluster with what its nodes report.
Answer analyze(const ClusterObjects& objects, const AnalyzeOptions& options);

}  // namespace cli
