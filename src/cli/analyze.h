#pragma once

#include <set>
#include <string>
#include <vector>

#include "agent/manifests.h"
#include "cli/answer.h"
#include "cli/finding.h"

namespace cli {

struct AnalyzeOptions {
  Severity fail_on = Severity::warning;
  std::set<std::string> ignored;  // Codes.
};

// What is wrong or surprising in the manifests by themselves, the worst first. The annotation
// iprule.operator.brtrm.dev/ignore-findings of an IPRule silences the codes it names for that object.
std::vector<Finding> findings_in(const agent::Manifests& manifests);

Answer analyze(const agent::Manifests& manifests, const AnalyzeOptions& options);

}  // namespace cli
