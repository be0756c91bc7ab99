#pragma once

#include <cstdint>

#include "api/agent.h"
#include "intent/cluster/acknowledgement.h"
#include "intent/cluster/desired.h"
#include "meta/condition.h"

// Whether steering can work at all on the nodes as they are. From facts that agents found by looking; a fact nobody
// could find is Unknown, never False.
namespace intent {

// The tables hold routes of the families in use.
meta::Condition routes_missing(const RuleOutcome& outcome, const NodeReports& reports);

// Packets will meet the rules, and the rules will decide. The message names nodes and the cure. `dataplane`: as ordered
// by the Agent.
meta::Condition effective(const RuleOutcome& outcome, const NodeReports& reports, std::uint32_t default_priority,
                          api::Dataplane dataplane);

}  // namespace intent
