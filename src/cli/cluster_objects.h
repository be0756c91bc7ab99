#pragma once

#include <string>
#include <vector>

#include "agent/manifests.h"
#include "api/iprule_config.h"
#include "api/node_state.h"
#include "base/result.h"

namespace cli {

// Everything in a cluster that decides what its nodes should hold, and what they say they hold.
struct ClusterObjects {
  agent::Manifests wanted;
  std::vector<api::IPRuleConfig> configs;
  std::vector<api::NodeState> reports;
  std::vector<std::string> gaps;  // What could not be asked, and why: unknown is not empty.
  bool supposed = false;          // `wanted` has manifests laid over it that nobody has applied.
};

// The names of `nodes` that exist; all of them where none is named. An error names the one that is not there.
base::Result<std::vector<std::string>> chosen_nodes(const ClusterObjects& objects,
                                                    const std::vector<std::string>& nodes);

// `objects` once `changes` are applied to them: what is there under the same name is replaced, but for what only the
// server and those who report to it write.
agent::Manifests laid_over(agent::Manifests objects, const agent::Manifests& changes);

// What the node's agent has reported; nullptr where it has not.
const api::NodeState* report_of(const ClusterObjects& objects, const std::string& node);

// "worker-1, worker-2 (2 alike)"
std::string names_text(const std::vector<std::string>& nodes);

}  // namespace cli
