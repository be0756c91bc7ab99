#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/ask_node.h"
#include "cli/cluster_objects.h"
#include "cli/drift_entry.h"
#include "cli/listing.h"
#include "meta/time.h"

namespace cli {

struct DriftOptions {
  std::vector<std::string> nodes{};  // Empty: all.
  Since since{};                     // Only what began, ended or was repaired within so long.
  ListStyle style{};
};

// Where somebody else keeps changing what is ours, or has rules beside it, by what agents report. With `ask`, the
// nodes' kernels are asked besides what of it has not been repaired; one that cannot be asked is a gap.
base::Result<Answer> drift_in_cluster(const ClusterObjects& objects, const DriftOptions& options, meta::Time now,
                                      const AskNode& ask = {});

// This host, kept by a standalone agent.
struct StandaloneHost {
  std::string name;
  std::filesystem::path folder;         // Of the manifests.
  std::filesystem::path status_folder;  // Where the agent says what it has put right; it may say nothing.
};
// What its kernel lacks or has too much of the folder, and what the agent has put right.
base::Result<std::vector<DriftEntry>> drift_here(const StandaloneHost& host, const Since& since, meta::Time now);
base::Result<Answer> show_drift_here(const StandaloneHost& host, const Since& since, const ListStyle& style,
                                     meta::Time now);

// The gaps, the names and the document of an answer that lists drift.
void put_drift(Answer& answer, const Listing& listing, const std::vector<std::string>& gaps);

}  // namespace cli
