#pragma once

#include <map>
#include <optional>
#include <string>

#include "agent/freshness.h"
#include "agent/node_loop.h"
#include "api/node_state.h"
#include "api/published_config.h"
#include "kube/store.h"

namespace agent {

using Failures = std::map<std::string, api::NodeState::Failed>;  // By uid.

// The objects that this node does not hold as they say, and why: those whose rules or marks are not there, and
// withdrawn ones whose are not gone.
Failures failures_of(const Pass& pass, const kube::View<api::PublishedConfig>& configs);

// The first change that the kernel refused and that is still to be made, whosever it is; a rule that it does not take
// is always somebody's.
std::optional<Doubt> refused_change(const Pass& pass);

// The read-back is for certain, and nothing but rules from sources is missing. Else it cannot be told whose the rest
// is.
bool is_proof(const Pass& pass);

}  // namespace agent
