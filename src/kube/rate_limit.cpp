#include "kube/rate_limit.h"

#include <algorithm>
#include <chrono>

namespace kube {

TokenBucket::TokenBucket(Pace pace)
    : interval_(std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(1 / pace.rate))),
      tolerance_(
          std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>((pace.burst - 1) / pace.rate))) {}

// The "virtual scheduling" form of the generic cell rate algorithm (ITU-T I.371).
std::optional<base::TimePoint> TokenBucket::reserve(base::TimePoint now, base::TimePoint latest) {
  const auto due = std::max(due_, now);
  const auto at = std::max(due - tolerance_, now);
  if (at > latest) return std::nullopt;
  due_ = due + interval_;
  return at;
}

}  // namespace kube
