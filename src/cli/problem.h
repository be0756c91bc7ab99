#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/status.h"
#include "meta/time.h"

namespace cli {

// One cause of trouble, with all that it hits.
struct Problem {
  std::string code;    // Of docs/findings; empty where there is none.
  std::string object;  // "IPRule/public-eu"
  std::string what;
  std::optional<meta::Time> since{};
  std::set<std::string> nodes{};  // Empty: not a matter of nodes.
};

// Grouped by cause, those with the most nodes first.
std::vector<Problem> problems_in(const ClusterFacts& facts, meta::Time now);

// A leader renews its Lease every few seconds. This long without is no leader, even where clocks differ.
inline constexpr std::chrono::minutes kLeaderSilence{2};

// "worker-3", "worker-1, worker-2", "412 nodes"
std::string nodes_text(const std::set<std::string>& nodes);

}  // namespace cli
