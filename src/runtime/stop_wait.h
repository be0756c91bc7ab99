#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>

#include "base/clock.h"

namespace runtime {

// Waits until `ready` (asked under the mutex), the deadline or a stop, and returns what `then` does, still under the
// mutex. As condition_variable_any does it, but that notifies with a lock of its own held: whoever wakes runs into it
// and sleeps again, which was a good part of what an event cost.
template <typename Ready, typename Then>
auto stop_wait(std::mutex& mutex, std::condition_variable& changed, const std::stop_token& stop,
               std::optional<base::TimePoint> deadline, Ready ready, Then then) {
  // Ended after the lock is gone: one that is running waits for the mutex.
  const std::stop_callback wake(stop, [&] {
    {
      const std::lock_guard lock(mutex);
    }
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  const auto enough = [&] { return ready() || stop.stop_requested(); };
  if (deadline) {
    changed.wait_until(lock, *deadline, enough);
  } else {
    changed.wait(lock, enough);
  }
  return then();
}

}  // namespace runtime
