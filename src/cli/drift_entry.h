#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "agent/standalone_status.h"
#include "api/node_state.h"
#include "base/result.h"
#include "cli/answer.h"
#include "cli/listing.h"
#include "meta/time.h"

namespace cli {

// One thing that others change, or changed, of what is ours on a node.
struct DriftEntry {
  std::string node;
  std::string type;  // A condition of the node's report, Drifting or Clashing; Kernel: found there; Repaired.
  bool goes_on = true;
  std::string reason;
  std::string message;
  std::optional<meta::Time> since{};

  // What it is about: of a node's kernel there may be many, of everything else one.
  bool is_about_the_same(const DriftEntry& other) const;
  bool operator==(const DriftEntry&) const = default;
};

// What the node's agent reports and goes on; with `since`, instead, what began or ended within so long.
std::vector<DriftEntry> reported_drift(const api::NodeState& report, const std::optional<std::chrono::seconds>& since,
                                       meta::Time now);
// What the kernel lacks or has too much, by a Diff of what is wanted there.
base::Result<std::vector<DriftEntry>> kernel_drift(const std::string& node, const Answer& diff);
// What a standalone agent has put right.
std::vector<DriftEntry> standalone_drift(const std::string& node, const agent::StandaloneStatus& status);

Listing drift_listing(const std::vector<DriftEntry>& entries, meta::Time now);

}  // namespace cli
