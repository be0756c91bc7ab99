#pragma once

#include <optional>

#include "api/agent.h"
#include "plan/foreign_rules.h"

namespace agent {

// What an administrator wants done about rules of others.
struct ForeignOrder {
  plan::ForeignScope scope{};
  bool prunes = false;  // Else they are only named.
};

// As `foreignRules` of the Agent says; nothing where they are to be ignored.
std::optional<ForeignOrder> foreign_order(const api::Agent::Spec& spec);

}  // namespace agent
