#pragma once

#include <span>

#include "api/iprule_config.h"
#include "state/net_state.h"

namespace agent {

state::NetState rules_of(std::span<const api::IPRuleConfig* const> configs);

}  // namespace agent
