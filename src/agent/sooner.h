#pragma once

#include <algorithm>
#include <optional>

#include "base/clock.h"

namespace agent {

// Which of two instants comes first; nothing is never.
inline std::optional<base::TimePoint> sooner(std::optional<base::TimePoint> one, std::optional<base::TimePoint> other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

}  // namespace agent
