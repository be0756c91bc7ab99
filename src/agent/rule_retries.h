#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/result.h"
#include "kernel/engine.h"
#include "state/net_state.h"

namespace agent {

// A rule that the kernel refused, and its words.
struct RefusedRule {
  state::Rule rule{};
  base::Error error;
};

// Rules from a source that the kernel refused, each with a back-off of its own, so that a thousand bad ones neither
// delay a good one nor are sent again with every change of it. What the kernel calls wrong in itself is not tried again
// while it is wanted unchanged. Rules that match marks are not held back: the nft table relies on them.
class RuleRetries {
 public:
  explicit RuleRetries(std::uint64_t seed) : seed_(seed) {}

  // Takes those that are not due out of `wanted`, which are returned, and forgets those that nobody wants any more.
  std::vector<state::Rule> hold_back(state::NetState& wanted, base::TimePoint now);

  // What became of the others.
  void note(const kernel::Engine::Report& report, base::TimePoint now);

  std::vector<RefusedRule> refused() const;  // Held back or just refused.
  std::optional<base::TimePoint> next_due() const;

 private:
  struct Retry {
    base::Error error;
    base::Backoff backoff;
    std::optional<base::TimePoint> due{};  // None: never.
  };
  void refuse(const state::Rule& rule, const base::Error& error, base::TimePoint now);

  std::uint64_t seed_;
  std::map<state::Rule, Retry> retries_;
};

}  // namespace agent
