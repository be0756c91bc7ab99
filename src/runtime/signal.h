#pragma once

#include <condition_variable>
#include <functional>
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

  // For who has a queue of his own, instead of a thread that waits only to fill it: from construction to destruction,
  // `told` is called by whoever raises, on his thread and before raise() returns. It must be quick, and leave this
  // signal alone. One at a time.
  class Listener {
   public:
    Listener(Signal& signal, std::function<void()> told);
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener();  // No call is under way any more.

   private:
    Signal& signal_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool raised_ = false;
  std::function<void()> listener_;
};

}  // namespace runtime
