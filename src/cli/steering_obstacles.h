#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/iprule.h"
#include "net/address.h"
#include "state/net_state.h"
#include "state/node_facts.h"

// What a node shows that keeps steering from working there. What nobody has looked at is no obstacle.
namespace cli {

struct SteeringObstacle {
  std::string code;
  std::string what;

  auto operator<=>(const SteeringObstacle&) const = default;
};

// A table without a route: packets that look it up go on to the next rule, and at last to main.
std::optional<SteeringObstacle> empty_table(const state::NodeFacts& facts, std::uint32_t table, net::Family family);

// Devices that drop packets whose way back would be found by a mark.
std::vector<SteeringObstacle> strict_filters(const state::NodeFacts& facts);

// No mode of them is ever met behind the node's service proxy.
std::optional<SteeringObstacle> unseen_sources(const state::NodeFacts& facts,
                                               const std::vector<api::SourceMode>& modes);

// What stands in the way of a state that is wanted of the node: the first two of these.
std::vector<SteeringObstacle> obstacles_to(const state::NetState& wanted, const state::NodeFacts& facts);

// The tables that it looks up, without the kernel's own.
std::set<std::pair<std::uint32_t, net::Family>> tables_of(const state::NetState& wanted);

}  // namespace cli
