#include "base/log_outlet.h"

#include <algorithm>
#include <poll.h>
#include <unistd.h>

#include <climits>

namespace base::log {
namespace {

// Then a write of PIPE_BUF bytes or less does not wait: a pipe is ready where it has a free page, a socket where a good
// part of its buffer is free, and a file always. The descriptor itself cannot be set not to wait, for others share it.
bool has_room(int descriptor) {
  pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0;
}

}  // namespace

void Outlet::put(int descriptor, std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (!drain(descriptor) || !has_room(descriptor)) {
    ++lost_;
    return;
  }
  if (lost_ > 0) {
    rest_ = account_(lost_);
    lost_ = 0;
  }
  rest_ += line;
  (void)drain(descriptor);  // The rest goes before the next line.
}

bool Outlet::drain(int descriptor) {
  while (!rest_.empty()) {
    if (!has_room(descriptor)) return false;
    const auto written = ::write(descriptor, rest_.data(), std::min<std::size_t>(rest_.size(), PIPE_BUF));
    if (written <= 0) {  // Nobody reads it any more.
      rest_.clear();
      ++lost_;
      return false;
    }
    rest_.erase(0, static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace base::log
