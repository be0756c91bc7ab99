#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "api/node_state.h"
#include "api/pod.h"

namespace intent {

// Where agents run and where they have run. The pointers are the caller's; order means nothing.
struct AgentPlaces {
  std::span<const api::Node* const> nodes;
  std::span<const api::Pod* const> pods;
  std::span<const api::NodeState* const> states;
  // What cannot be read now, in words. None of it is known to be gone.
  std::span<const std::string> unseen_agents;   // "agents in name space x": on any node one may run.
  std::span<const std::string> unread_reports;  // "report of node x"
};

struct NodeStateWrite {
  enum class Step {
    create,     // An agent is bound to the node: from now on the node may hold something.
    update,     // Prefixes, number of nodes, token or owner are not right.
    let_go,     // The agent has gone and left nothing behind.
    node_gone,  // Its Node is not in our view. Only a fresh read of that Node makes this sure.
  };
  Step step = Step::create;
  api::NodeState object;  // Its meta has uid and version for the precondition, except for create.
  bool can_wait = false;  // update: no node waits for it, nor is anything decided by it.
};

std::string_view text(NodeStateWrite::Step step);

struct NodeStateWishes {
  std::vector<std::string> cluster_prefixes;
  bool may_change_prefixes = true;  // False: nobody says now what the administrator adds. Only new reports get them.
  std::string fresh_token;          // For new reports, and for those whose numbers can no longer be believed.
  std::vector<std::string> distrusted;  // Names of those.
};

// A NodeState exists for every node that may hold something of ours. It comes with the first agent pod bound to the
// node, and goes when the Node itself is gone, or when the agent has said that it holds nothing and no pod is left.
std::vector<NodeStateWrite> node_state_changes(const AgentPlaces& places, const NodeStateWishes& wishes);

// The Node that a report speaks for, by its owner; "" where it has none.
std::string_view node_uid(const api::NodeState& state);

// Whether the report answers the token it was given.
bool is_answered(const api::NodeState& state);

}  // namespace intent
