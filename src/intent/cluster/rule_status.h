#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/agent.h"
#include "api/iprule.h"
#include "api/service.h"
#include "intent/cluster/acknowledgement.h"
#include "intent/cluster/config_status.h"
#include "intent/cluster/desired.h"
#include "meta/time.h"

namespace intent {

// What became of all that was published for one IPRule.
struct RuleSpread {
  std::size_t configs = 0;
  std::size_t under_way = 0;  // Not everywhere yet, and too early to worry.
  std::size_t no_node = 0;
  std::size_t no_agent = 0;
  std::size_t unreported = 0;
  std::size_t unseen = 0;
  std::size_t unwritten = 0;
  std::string refusal;                       // Of the first of those.
  std::map<std::string, Shortfall> missing;  // By node, the first of each.
  std::span<const std::string> bare;         // Nodes that should run an agent and do not.
  std::span<const std::string> unseen_agents;
  std::vector<std::string> cleaning;     // Withdrawn objects that are still there.
  std::vector<std::string> names_taken;  // Objects of others that have a name we would have used.

  void add(const Spread& spread);
};

// The Services there are, for the author of an IPRule that matches none.
struct ServiceCensus {
  std::size_t load_balancers = 0;
  std::size_t pending = 0;                      // Without an address, for longer than load balancers take.
  std::vector<net::Address> vips;               // In order.
  meta::Time next_pending = meta::Time::max();  // When the next of those without will be.

  static ServiceCensus of(std::span<const api::Service* const> services, meta::Time now);
};

// What the status of an IPRule should say. `settings`: of the Agent that counts.
api::IPRule::Status rule_status(const RuleOutcome& outcome, const RuleSpread& spread, const ServiceCensus& census,
                                const NodeReports& reports, const api::Agent::Spec& settings, meta::Time now);

}  // namespace intent
