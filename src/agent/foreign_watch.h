#pragma once

#include <map>
#include <optional>
#include <vector>

#include "agent/foreign_order.h"
#include "base/clock.h"
#include "plan/ownership.h"
#include "state/net_state.h"

namespace agent {

// Decides which rules of others go. One that was seen for the first time may belong to somebody who is still at work;
// so it goes when it was there a whole period ago, too, and never many at once.
class ForeignWatch {
 public:
  static constexpr std::size_t kMostAtOnce = 50;

  explicit ForeignWatch(base::Duration period) : period_(period) {}

  // Those that go now, in order; each is logged with the command that brings it back. `seen` was verified.
  std::vector<state::Rule> due(const std::optional<ForeignOrder>& order, const state::NetState& seen,
                               const plan::Ownership& ownership, base::TimePoint now);
  // When the next will be due.
  std::optional<base::TimePoint> next_due() const { return next_due_; }

 private:
  base::Duration period_;
  std::map<state::Rule, base::TimePoint> since_;
  std::optional<base::TimePoint> next_due_;
};

}  // namespace agent
