#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "intent/cluster/changes.h"

namespace controller {

// Load balancers clear and set the same address within a second; rules must not follow that. An object is withdrawn
// only when nothing has wanted it for a while, unless it is in the way of what else is wanted for its source.
class HoldDown {
 public:
  explicit HoldDown(base::Duration delay) : delay_(delay) {}

  // Drops the withdrawals that must wait; returns when the first of them is due.
  std::optional<base::TimePoint> hold(std::vector<intent::Write>& writes, base::TimePoint now);

 private:
  base::Duration delay_;
  std::map<std::string, base::TimePoint> unwanted_since_;  // By uid.
};

}  // namespace controller
