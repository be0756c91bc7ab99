#pragma once

#include <chrono>
#include <cstdint>

#include "base/backoff.h"

namespace agent {

// When to look although nothing asks for it. Agents that began together shall not all look in the same moment, for
// ever: each wait is up to a tenth shorter than the period.
class AuditPace {
 public:
  using Milliseconds = std::chrono::milliseconds;

  AuditPace(Milliseconds period, std::uint64_t seed) : period_(period), less_(period / 10, period / 10, seed) {}

  Milliseconds next() { return period_ - less_.next(); }
  Milliseconds least() const { return period_ - period_ / 10; }

 private:
  Milliseconds period_;
  base::Backoff less_;
};

}  // namespace agent
