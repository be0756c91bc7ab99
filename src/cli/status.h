#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/agent.h"
#include "api/iprule.h"
#include "api/iprule_config.h"
#include "api/node_state.h"
#include "cli/agent_run.h"
#include "cli/answer.h"
#include "cli/controller_facts.h"
#include "meta/time.h"

namespace cli {

// What a cluster holds of ours, as far as it could be asked.
struct ClusterFacts {
  ControllerFacts controller;
  std::vector<api::Agent> agents;
  std::vector<api::IPRule> rules;
  std::vector<api::IPRuleConfig> configs;
  std::vector<api::NodeState> nodes;
  std::optional<std::vector<AgentRun>> runs;  // Nothing: the agents' pods could not be listed.
  std::vector<std::string> unserved;          // Of our kinds, those that the server does not know.
  std::vector<std::string> gaps;              // What could not be asked, and why: unknown is not empty.

  // Nothing runs, and nobody has asked for anything. Said only where all of it could be asked.
  bool is_not_installed() const;
};

// The nodes whose agents live, as far as their pods tell; nothing where that could not be asked.
std::optional<std::set<std::string>> living_nodes(const ClusterFacts& facts);

// Reported so, by an agent that lives.
bool is_in_sync(const api::NodeState& node, const std::optional<std::set<std::string>>& living);
std::size_t nodes_in_sync(const ClusterFacts& facts);

// IPRules that the controller or nodes are still busy with: no trouble, and nothing to call finished.
std::size_t rules_under_way(const ClusterFacts& facts);

// One screen, whatever the size of the cluster: components, the job, problems by cause with the number of nodes, the
// next step.
Answer show_status(const ClusterFacts& facts, meta::Time now);

}  // namespace cli
