#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/clock.h"

namespace runtime {

// "Something changed, look again": any number of raise() between two waits is one wake-up, so a slow reader means
// fewer passes and never a queue.
class Signal {
 public:
  void raise();

  // True when raised since the last wait; false at the deadline or when stopped.
  bool wait(std::stop_token stop, std::optional<base::TimePoint> deadline = {});

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool raised_ = false;
};

}  // namespace runtime
