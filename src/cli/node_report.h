#pragma once

#include <string>
#include <vector>

#include "api/node_state.h"
#include "base/result.h"
#include "cli/answer.h"
#include "cli/cluster_objects.h"
#include "meta/time.h"
#include "state/node_facts.h"

// Answers about nodes from what their agents have reported. Nobody's kernel is asked, and every answer says so.
namespace cli {

// What a report says of a node's data path. What it does not say stays unknown.
state::NodeFacts facts_of(const api::NodeState::Facts& facts);

// What nodes have not reported as done yet, or as failed: the published objects against the reports.
base::Result<Answer> diff_in_cluster(const ClusterObjects& objects, const std::vector<std::string>& nodes,
                                     meta::Time now);

// Which source modes work on which nodes.
base::Result<Answer> examine_nodes(const ClusterObjects& objects, const std::vector<std::string>& nodes);

// Where somebody else keeps changing what is ours, or has rules beside it.
base::Result<Answer> drift_in_cluster(const ClusterObjects& objects, const std::vector<std::string>& nodes,
                                      meta::Time now);

}  // namespace cli
