#pragma once

#include <chrono>
#include <cstdint>
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
  // Repaired, Foreign: of a report. Kernel: found there now. Drifting, Clashing: a condition of a report that does not
  // say what it is about.
  std::string type;
  bool goes_on = true;
  std::string reason;
  std::string message;
  std::optional<meta::Time> since{};
  std::string object{};  // "IPv4 rule 1000: from 10.96.23.17 lookup 100"
  std::string wanted{};
  std::string found{};
  std::string likely{};  // Who did it; often nobody can say.
  std::string action{};  // What was done about it.
  std::string code{};
  std::int32_t repairs = 0;

  // What it is about.
  bool is_about_the_same(const DriftEntry& other) const;
  bool operator==(const DriftEntry&) const = default;
};

// The same once it is over.
DriftEntry ended(DriftEntry entry);

using Since = std::optional<std::chrono::seconds>;

// What the node's agent reports: what it put right, what stands beside ours, and conditions that go on. With `since`,
// only what began, ended or was repaired within so long.
std::vector<DriftEntry> reported_drift(const api::NodeState& report, const Since& since, meta::Time now);
// What the kernel lacks or has too much, by a Diff of what is wanted there.
base::Result<std::vector<DriftEntry>> kernel_drift(const std::string& node, const Answer& diff);
// What a standalone agent has put right, and rules of others beside ours.
std::vector<DriftEntry> standalone_drift(const std::string& node, const agent::StandaloneStatus& status,
                                         const Since& since, meta::Time now);

Listing drift_listing(const std::vector<DriftEntry>& entries, meta::Time now);

}  // namespace cli
