#pragma once

#include <algorithm>

#include "base/clock.h"

namespace base {

// A rate that allows a burst: `burst` tokens at once, then one every `between`. Pure: the caller brings the time.
class TokenBucket {
 public:
  TokenBucket(Duration between, int burst) : between_(between), reach_((burst - 1) * between) {}

  // Takes the next token; it may be used from the time that is returned on.
  TimePoint reserve(TimePoint now) {
    const TimePoint token = peek(now);
    next_ = std::max(next_, now - reach_) + between_;
    return token;
  }

  // When the next token can be used.
  TimePoint peek(TimePoint now) const { return std::max(next_, now); }

 private:
  Duration between_;
  Duration reach_;  // How far back a full bucket lies.
  TimePoint next_ = TimePoint::min();
};

}  // namespace base
