#pragma once

#include <chrono>

namespace base {

// All waiting and measuring is by the monotonic clock; wall time is for certificates and for people.
using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

inline TimePoint now() {
  return std::chrono::steady_clock::now();
}

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
};

class SteadyClock final : public Clock {
 public:
  TimePoint now() const override { return base::now(); }
};

}  // namespace base
