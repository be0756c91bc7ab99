#pragma once

#include <optional>

#include "base/clock.h"

namespace kube {

// How fast a client asks: so many calls a second on the average, so many of them at once.
struct Pace {
  double rate = 50;
  double burst = 100;
};

// A token bucket without a clock. Callers are served in the order in which they ask.
class TokenBucket {
 public:
  explicit TokenBucket(Pace pace);

  // The instant at which the caller may go, or nothing if that is after `latest`; then nothing was taken either.
  std::optional<base::TimePoint> reserve(base::TimePoint now, base::TimePoint latest);

 private:
  base::Duration interval_;
  base::Duration tolerance_;  // How far ahead of its interval a call may come: the burst.
  base::TimePoint due_{};     // Of the next call, if calls came one by one.
};

}  // namespace kube
