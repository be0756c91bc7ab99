#pragma once

#include "api/node_state.h"
#include "state/node_facts.h"

namespace agent {

// What a node shows of its data path, in the words of its report. No list is longer than the server takes.
api::NodeState::Facts reported(const state::NodeFacts& facts);

}  // namespace agent
