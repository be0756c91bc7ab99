#pragma once

#include <cstddef>
#include <string_view>

#include "base/clock.h"

// How the agents of many nodes keep from coming to the API server at one instant.
namespace agent {

// Whether a cluster with so many prefixes has many nodes.
bool is_crowd(std::size_t cluster_prefixes);

// Whether others may have been started at the same instant: the node has just booted.
bool may_join_a_crowd(base::Duration uptime);

// For how long the agent of a node that has just booted leaves the list of published objects to the others: where a
// whole site gets its power back, all of them would ask for it at once. The longer the more nodes there are, at most
// 20 s, by a node's name, evenly spread. Nothing in a small cluster, and nothing where only the agent was started anew:
// its rules are there, and a roll-out comes node by node.
base::Duration boot_delay(std::string_view node, std::size_t cluster_prefixes, base::Duration uptime);

}  // namespace agent
