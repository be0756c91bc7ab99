#include "runtime/signal.h"

#include "runtime/stop_wait.h"

namespace runtime {

void Signal::raise() {
  {
    const std::lock_guard lock(mutex_);
    raised_ = true;
    if (listener_) listener_();
  }
  changed_.notify_all();
}

bool Signal::wait(std::stop_token stop, std::optional<base::TimePoint> deadline) {
  return stop_wait(
      mutex_, changed_, stop, deadline, [this] { return raised_; }, [this] { return std::exchange(raised_, false); });
}

Signal::Listener::Listener(Signal& signal, std::function<void()> told) : signal_(signal) {
  const std::lock_guard lock(signal_.mutex_);
  signal_.listener_ = std::move(told);
}

Signal::Listener::~Listener() {
  const std::lock_guard lock(signal_.mutex_);
  signal_.listener_ = nullptr;
}

}  // namespace runtime
