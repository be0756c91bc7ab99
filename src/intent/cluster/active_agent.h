#pragma once

#include <span>
#include <string_view>

#include "api/agent.h"

namespace intent {

// The one Agent of the cluster that counts: `agent` before `default`; of several namespaces `home` (the operator's)
// first, then by name. One that is being deleted no longer counts. None where there is none.
const api::Agent* active_agent(std::span<const api::Agent* const> agents, std::string_view home);

}  // namespace intent
