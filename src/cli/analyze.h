#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/cluster_objects.h"
#include "cli/finding.h"
#include "cli/listing.h"

namespace cli {

struct AnalyzeOptions {
  Severity fail_on = Severity::warning;
  std::set<std::string> ignored{};  // Codes.
  ListStyle style{};
};

// What is wrong or surprising in the objects: of manifests by themselves, or in a cluster with what its nodes report.
// An error where they cannot be sorted as asked for.
base::Result<Answer> analyze(const ClusterObjects& objects, const AnalyzeOptions& options);

}  // namespace cli
