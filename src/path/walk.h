#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "path/packet.h"
#include "path/verdict.h"
#include "state/net_state.h"

namespace path {

// One rule on the packet's way.
struct Step {
  enum class Effect : std::uint8_t {
    not_matched,
    no_route,      // Its table has none for the packet.
    thrown_back,   // Its table says: ask the next rule.
    suppressed,    // Its table has one that the rule does not let count.
    jumped,        // To the rule it names.
    jump_is_lost,  // It names a rule that is not there.
    passed,        // nop
    decided,
  };
  const state::Rule* rule = nullptr;  // Of the state that was walked.
  Effect effect = Effect::not_matched;
  const state::Route* route = nullptr;  // That decided, was suppressed or threw back.
};

struct Walk {
  std::vector<Step> steps{};
  Verdict verdict{};
  std::vector<std::string> doubts{};  // What stood in the way and is not understood: the verdict may be another.
};

// What the kernel would do with the packet, as fib_rules_lookup() does it: rules by priority, in each table the longest
// prefix, then the lowest metric. `observed` needs all rules, the routes of all tables that rules name, nexthops and
// links. The caller keeps it as long as the steps.
Walk walk(const state::NetState& observed, const Packet& packet);

// Why a rule is not about the packet: "source is 10.244.1.7". Empty where it is.
std::string mismatch(const state::Rule& rule, const Packet& packet, const state::NetState& observed);

}  // namespace path
