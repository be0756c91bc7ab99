#pragma once

#include <string>
#include <string_view>

#include "api/agent.h"
#include "api/daemon_set.h"

namespace intent {

// The DaemonSet, the account its pods run as, and their label `app`; the same in the old project.
inline constexpr std::string_view kAgentName = "iprule-agent";

// 16 digits for what the Agent says about the pods. The old project's value where the Agent says nothing that it did
// not know, so that a take-over changes no hash.
std::string template_hash(const api::Agent::Spec& spec, std::string_view image);

// The DaemonSet that runs this Agent; `image` is used where the Agent names none.
api::DaemonSet agent_daemon_set(const api::Agent& agent, std::string_view image);

// Whether everything we want is there. What others added (labels, annotations such as that of `kubectl rollout
// restart`, variables, containers) is theirs; what we no longer want differs in the hash.
bool covers(const api::DaemonSet& live, const api::DaemonSet& wanted);

}  // namespace intent
