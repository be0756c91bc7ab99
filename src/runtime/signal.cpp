#include "runtime/signal.h"

namespace runtime {

void Signal::raise() {
  {
    const std::lock_guard lock(mutex_);
    raised_ = true;
  }
  changed_.notify_all();
}

bool Signal::wait(std::stop_token stop, std::optional<base::TimePoint> deadline) {
  std::unique_lock lock(mutex_);
  const auto raised = [this] { return raised_; };
  if (deadline) {
    changed_.wait_until(lock, stop, *deadline, raised);
  } else {
    changed_.wait(lock, stop, raised);
  }
  return std::exchange(raised_, false);
}

}  // namespace runtime
