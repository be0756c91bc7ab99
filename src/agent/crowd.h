#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"

// How the agents of many nodes keep from coming to the API server at one instant.
namespace agent {

// How long after something that all nodes hear of it is this one's turn to report: by its name, evenly spread, the
// later the more nodes there are, at most 10 s. At once in a small cluster.
base::Duration turn_of(std::string_view node, std::int32_t nodes);

// Whether others may have been started at the same instant: the node has just booted.
bool may_join_a_crowd(base::Duration uptime);

// For how long the agent of a node that has just booted leaves the list of published objects to the others: where a
// whole site gets its power back, all of them would ask for it at once, and it costs a server more than a report; at
// most 50 s. Nothing where only the agent was started anew: its rules are there, and a roll-out comes node by node.
base::Duration boot_delay(std::string_view node, std::int32_t nodes, base::Duration uptime);

}  // namespace agent
