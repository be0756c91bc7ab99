#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/iprule_config.h"
#include "intent/cluster/acknowledgement.h"
#include "intent/cluster/patience.h"
#include "meta/time.h"

namespace intent {

// Why a node that should hold an object has not said that it does.
struct Shortfall {
  std::string node;
  std::string reason;   // The agent's own word, or AgentNotReady, NoReport, or EmptyTable.
  std::string message;  // For people.
};

// How far one published object has come.
struct Spread {
  enum class Stage {
    applied,     // Every node that is asked holds it.
    under_way,   // Not yet, and it is too early to worry.
    failing,     // Some node does not, and has said why or been silent for too long.
    no_node,     // It selects none.
    no_agent,    // It selects some, and none of them could.
    unreported,  // Only agents of the old project could, and they do not tell.
    unseen,      // No agent is known of, but not all can be seen, and that has been so for long.
    unwritten,   // The API server refuses it as it should be now: nodes do not know of it.
  };
  Stage stage = Stage::under_way;
  std::size_t asked = 0;  // Nodes.
  std::vector<Shortfall> missing;
  std::vector<Shortfall> no_route;  // They hold it, and their table has no route: lookups fall through.
  std::string refusal;              // The server's words.
  // The reports' own.
  std::span<const std::string> bare;           // An agent should run there, and none does.
  std::span<const std::string> unseen_agents;  // In words, where some may run of which nobody is known.
};

Spread spread_of(const api::IPRuleConfig& present, const NodeReports& reports, Patience& patience);

// What the object's status should say; nothing where it says so already, or where it is too early to tell. It is
// written once at each turn and never for a single node. Whatever is written carries the epoch, so that later writes of
// metadata do not look like a new order to the nodes.
std::optional<api::IPRuleConfig::Status> present_status(const api::IPRuleConfig& config, const Spread& spread,
                                                        meta::Time now);
std::optional<api::IPRuleConfig::Status> withdrawn_status(const api::IPRuleConfig& config, const NodeReports& reports,
                                                          Patience& patience, meta::Time now);

// The status as it is, with the epoch of the present generation.
api::IPRuleConfig::Status with_epoch(const api::IPRuleConfig& config);

// "agents in name space x cannot be seen, ...", with where to look. There is at least one such place.
std::string unseen_agents_text(std::span<const std::string> unseen);
std::string with_unseen_agents(std::span<const std::string> unseen);  // The same behind another text; or nothing.

// What to say of something that is for no node.
std::string no_node_text(const meta::Labels& selector);

// "table 100", "the table of VRF blue"
std::string table_text(std::uint32_t table, const std::string& vrf);

// "; no agent on: a, b", with where to look; nothing where there is an agent everywhere.
std::string without_agent(std::span<const std::string> bare);

// "a, b, c and 7 more"
constexpr std::size_t kMostNamed = 3;
constexpr std::size_t kMostMissing = 10;  // Of the nodes that something waits for: nobody else has their names.
std::string some_of(std::span<const std::string> names, std::size_t most = kMostNamed);

}  // namespace intent
