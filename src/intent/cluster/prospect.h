#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/agent.h"
#include "api/iprule.h"
#include "api/node_state.h"
#include "state/node_facts.h"

// What an IPRule can come to on one node, by what that node's agent reported.
namespace intent {

// As a report spells it.
state::ServiceProxy proxy_of(const api::NodeState::Facts& facts);

// The table that the rule looks up there. Nothing where it is a VRF's and the node has not said which.
std::optional<std::uint32_t> table_on(const api::IPRule::Spec& spec, const api::NodeState::Facts& facts);

// The families in use whose lookups find no route in that table.
std::vector<net::Family> families_without_routes(const api::IPRule::Spec& spec,
                                                 const std::vector<net::Prefix>& prefixes,
                                                 const api::NodeState::Status& node);

// Why replies do not take the table. In order, the most hopeless first: of several modes the one that comes furthest
// counts.
enum class Obstacle : std::uint8_t {
  never_seen,           // No packet carries what the mode looks for.
  no_conntrack,         // Replies are told by the kernel's connections, and it follows none.
  strict_reverse_path,  // Steered by mark, and a device that the table leads to drops the request for that.
  unknown,              // No fact tells.
  none,
};

struct Prospect {
  Obstacle obstacle = Obstacle::unknown;
  std::vector<std::string> strict_devices;  // For strict_reverse_path.
  std::vector<api::SourceMode> idle;        // Modes that do nothing there, whatever the others do.
};

Prospect prospect_of(const api::IPRule& rule, const std::vector<net::Prefix>& prefixes,
                     const api::NodeState::Status& node, api::Dataplane dataplane);

}  // namespace intent
