#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "api/agent.h"
#include "api/iprule.h"
#include "api/iprule_config.h"
#include "api/node_state.h"
#include "cli/answer.h"
#include "meta/time.h"

namespace cli {

// Who leads the controllers, by their Lease.
struct Leader {
  std::string holder;  // Empty: released.
  meta::Time renewed{};
};

// What a cluster holds of ours, as far as it could be asked.
struct ClusterFacts {
  std::optional<Leader> leader;  // None: there is no Lease.
  bool leader_unknown = false;   // We may not look at Leases.
  std::vector<api::Agent> agents;
  std::vector<api::IPRule> rules;
  std::vector<api::IPRuleConfig> configs;
  std::vector<api::NodeState> nodes;
  std::vector<std::string> gaps;  // What could not be asked, and why: unknown is not empty.
};

std::size_t nodes_in_sync(const ClusterFacts& facts);

// One screen, whatever the size of the cluster: components, the job, problems by cause with the number of nodes, the
// next step.
Answer show_status(const ClusterFacts& facts, meta::Time now);

}  // namespace cli
