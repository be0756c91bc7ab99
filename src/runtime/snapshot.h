#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace runtime {

// A value replaced whole by one writer and read by many: a reader holds what it got for as long as it likes. The swap
// is under a mutex because TSan does not understand GCC 12's atomic shared_ptr.
template <typename T>
class Snapshot {
 public:
  explicit Snapshot(T first = {}) : value_(std::make_shared<const T>(std::move(first))) {}

  std::shared_ptr<const T> latest() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }

  void publish(T next) {
    auto fresh = std::make_shared<const T>(std::move(next));
    const std::lock_guard lock(mutex_);
    value_.swap(fresh);  // The old value is destroyed after the lock is gone.
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace runtime
