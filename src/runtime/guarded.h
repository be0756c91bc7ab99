#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/clock.h"

namespace runtime {

// A value that many threads use, one at a time, and whose changes they can wait for.
template <typename T>
class Guarded {
 public:
  template <typename... Args>
  explicit Guarded(Args&&... args) : value_(std::forward<Args>(args)...) {}

  // Runs `use` alone with the value; those who wait look again afterwards.
  template <typename Use>
  auto change(Use&& use) {
    const NotifyAtEnd notify(changed_);
    const std::lock_guard lock(mutex_);
    ++version_;
    return std::forward<Use>(use)(value_);
  }

  template <typename Use>
  auto read(Use&& use) const {
    const std::lock_guard lock(mutex_);
    return std::forward<Use>(use)(value_);
  }

  // Calls `take`, which returns an optional, until it gives something. Looks again after each change and at the time
  // that `due` (optional) gives for the value as it is; ends with nothing when stopped, after one last look.
  template <typename Take, typename Due>
  auto wait(std::stop_token stop, Take&& take, Due&& due) {
    std::unique_lock lock(mutex_);
    while (true) {
      const bool stopped = stop.stop_requested();
      auto taken = take(value_);
      if (taken || stopped) return taken;
      wait_for_change(lock, stop, due(value_));
    }
  }

 private:
  class NotifyAtEnd {
   public:
    explicit NotifyAtEnd(std::condition_variable_any& changed) : changed_(changed) {}
    NotifyAtEnd(const NotifyAtEnd&) = delete;
    NotifyAtEnd& operator=(const NotifyAtEnd&) = delete;
    ~NotifyAtEnd() { changed_.notify_all(); }

   private:
    std::condition_variable_any& changed_;
  };

  void wait_for_change(std::unique_lock<std::mutex>& lock, const std::stop_token& stop,
                       std::optional<base::TimePoint> deadline) {
    const auto changed = [this, seen = version_] { return version_ != seen; };
    if (deadline) {
      changed_.wait_until(lock, stop, *deadline, changed);
    } else {
      changed_.wait(lock, stop, changed);
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t version_ = 0;
  T value_;
};

}  // namespace runtime
