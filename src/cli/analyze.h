#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "agent/manifests.h"
#include "base/result.h"
#include "cli/answer.h"
#include "cli/finding.h"

namespace cli {

struct AnalyzeOptions {
  std::filesystem::path manifests;  // File or folder.
  Severity fail_on = Severity::warning;
  std::set<std::string> ignored;  // Codes.
};

// What is wrong or surprising in the manifests by themselves, the worst first. The annotation
// iprule.operator.brtrm.dev/ignore-findings of an IPRule silences the codes it names for that object.
std::vector<Finding> findings_in(const agent::Manifests& manifests);

base::Result<Answer> analyze(const AnalyzeOptions& options);

}  // namespace cli
