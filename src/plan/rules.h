#pragma once

#include <vector>

#include "plan/ownership.h"
#include "plan/plan.h"
#include "state/net_state.h"

namespace plan {

// More adds of one family and priority than this go without the kernel's check for copies, which compares each with
// all before it.
inline constexpr std::size_t kMostExclusiveAdds = 64;

struct RuleChanges {
  std::vector<AddRule> add{};  // By priority, so that a rule stands before those it hides.
  std::vector<Op> remove{};    // The other way round. May add again what a removal would take by mistake.
  std::vector<Clash> clashes{};
  std::vector<Refusal> refused{};
};

RuleChanges diff_rules(const state::NetState& observed, bool verified, const state::NetState& desired,
                       const Ownership& ownership);

}  // namespace plan
