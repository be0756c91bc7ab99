#pragma once

#include <string>
#include <vector>

#include "api/node_state.h"
#include "cli/cluster_objects.h"
#include "meta/labels.h"
#include "state/node_facts.h"

namespace cli {

// What is known of a node that decides whether steering can work there.
struct NodeSight {
  std::string name;
  meta::Labels labels{};
  state::NodeFacts facts{};  // With the tables that are known to be empty; of others nothing is said.
  bool marks = false;        // It steers by marks, whatever the modes are.
  std::string clash{};       // What of others stands beside ours there.
};

// What its agent has reported, with the tables that it found empty.
state::NodeFacts reported_facts(const api::NodeState& report);

// Of every node that has reported and whose labels are known.
std::vector<NodeSight> sights_in(const ClusterObjects& objects);

}  // namespace cli
