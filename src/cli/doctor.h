#pragma once

#include "base/result.h"
#include "cli/answer.h"
#include "state/net_state.h"
#include "state/node_facts.h"

namespace cli {

// What a node's data path allows, from what it shows: which source modes can work there, and what stands in the way.
// A fact that could not be found is said to be unknown, never guessed.
Answer show_facts(const state::NodeFacts& facts, const state::NetState& observed);

// The same from a report, which says nothing of the rules that stand there.
Answer show_reported_facts(const state::NodeFacts& facts);

// Looks at this host.
base::Result<Answer> examine_host();

}  // namespace cli
