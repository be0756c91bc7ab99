#pragma once

#include <span>
#include <string_view>

#include "api/agent.h"

namespace intent {

// What the condition Ready of an Agent gives for a reason where another one counts.
inline constexpr std::string_view kInactiveInstance = "InactiveInstance";

// The one Agent of the cluster that counts: `agent` before `default`; of several namespaces `home` (the operator's)
// first, then by name. One that is being deleted no longer counts. None where there is none.
const api::Agent* active_agent(std::span<const api::Agent* const> agents, std::string_view home);

// The same for who cannot know where the operator is: those that were told that they do not count are left out. Where
// that leaves none, the one that did count is gone, and what was told is out of date.
const api::Agent* active_agent_by_status(std::span<const api::Agent* const> agents, std::string_view home);

}  // namespace intent
