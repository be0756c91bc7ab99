#pragma once

#include <cstdint>
#include <set>
#include <stop_token>

#include "base/result.h"
#include "kernel/netlink/socket.h"
#include "state/node_facts.h"

namespace kernel {

// What this node shows of its data path, with the routes of `tables`. Must run in the namespace in which `socket` was
// opened. An error only where the kernel cannot be asked at all: a single fact that cannot be read is left unknown.
base::Result<state::NodeFacts> read_facts(Socket& socket, const std::set<std::uint32_t>& tables, std::stop_token stop);

}  // namespace kernel
