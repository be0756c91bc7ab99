#pragma once

#include <optional>
#include <span>

#include "agent/freshness.h"
#include "net/address.h"
#include "state/node_facts.h"

namespace agent {

// Why this cannot be the node's own network, for people; nothing where it may be. A pod without hostNetwork has one of
// its own, where rules steer nobody, and what looks like a node without rules is no node at all. `addresses` are the
// node's internal ones as the cluster knows them: where it knows none, there is nothing to compare.
std::optional<Doubt> not_the_hosts_network(std::span<const net::Address> addresses, const state::NodeFacts& facts);

}  // namespace agent
