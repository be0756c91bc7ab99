#pragma once

#include <string>
#include <vector>

#include "api/node_state.h"
#include "base/result.h"
#include "cli/answer.h"
#include "cli/ask_node.h"
#include "cli/cluster_objects.h"
#include "state/node_facts.h"

namespace cli {

// What a report says of a node's data path. What it does not say stays unknown.
state::NodeFacts facts_of(const api::NodeState::Facts& facts);

// Which source modes work on which nodes. Their kernels are asked, through `ask`; where that cannot be, and where there
// is none, reports have to do, and the answer says so.
base::Result<Answer> examine_nodes(const ClusterObjects& objects, const std::vector<std::string>& nodes,
                                   const AskNode& ask);

}  // namespace cli
