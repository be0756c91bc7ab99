#include "http/exchange.h"

#include <chrono>
#include <utility>

#include "runtime/stop_wait.h"

namespace http {

using base::Fault;

namespace {

constexpr std::size_t kSmallPiece = 16U << 10U;        // Some events: decoded in less than a wake-up takes.
constexpr auto kSlow = std::chrono::milliseconds(10);  // Longer than being put off by a busy machine mostly is.

std::unexpected<base::Error> gave_up(const std::stop_token& stop) {
  if (stop.stop_requested()) return base::fail(Fault::cancelled, "stopped while waiting for the server");
  return base::fail(Fault::timeout, "no answer before the deadline");
}

}  // namespace

void Exchange::deliver_head(int status, Headers headers) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || head_) return;
    response_.status = status;
    response_.headers = std::move(headers);
    head_ = true;
  }
  changed_.notify_all();
}

bool Exchange::deliver_data(std::string_view bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return true;
    if (takes_here(bytes)) {
      take_here(bytes);
      if (!has_enough_) return true;  // The caller sleeps on.
    } else {
      if (mode_ == Mode::whole && bytes.size() > body_limit_ - response_.body.size()) return false;
      response_.body += bytes;
      taker_ = nullptr;  // What comes next waits its turn behind this.
    }
  }
  if (mode_ == Mode::streamed) changed_.notify_all();
  return true;
}

bool Exchange::takes_here(std::string_view bytes) const {
  return taker_ != nullptr && bytes.size() <= kSmallPiece;
}

void Exchange::take_here(std::string_view bytes) {
  const base::SteadyClock clock;
  const auto start = clock.now();
  has_enough_ = !(*taker_)(bytes);
  is_slow_ = is_slow_ || clock.now() - start > kSlow;
  if (has_enough_ || is_slow_) taker_ = nullptr;
}

void Exchange::finish() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
}

void Exchange::fail(base::Error error) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    error_ = std::move(error);
    ended_ = true;
  }
  changed_.notify_all();
}

template <typename Ready, typename Then>
auto Exchange::wait(base::TimePoint deadline, const std::stop_token& stop, Ready ready, Then then) -> decltype(then()) {
  return runtime::stop_wait(mutex_, changed_, stop, deadline, ready, [&]() -> decltype(then()) {
    if (ready()) return then();
    return gave_up(stop);
  });
}

base::Status Exchange::wait_head(base::TimePoint deadline, std::stop_token stop) {
  return wait(
      deadline, stop, [this] { return head_ || ended_; },
      [this]() -> base::Status {
        if (!head_) return std::unexpected(*error_);
        return {};
      });
}

base::Result<Response> Exchange::wait_end(base::TimePoint deadline, std::stop_token stop) {
  return wait(
      deadline, stop, [this] { return ended_; },
      [this]() -> base::Result<Response> {
        if (error_) return std::unexpected(*error_);
        return std::move(response_);
      });
}

base::Result<std::string> Exchange::read(base::TimePoint deadline, std::stop_token stop) {
  return wait(
      deadline, stop, [this] { return !response_.body.empty() || ended_; },
      [&]() -> base::Result<std::string> {
        if (stop.stop_requested()) return gave_up(stop);
        // What came before a failure is still true: it is handed over first.
        if (response_.body.empty() && error_) return std::unexpected(*error_);
        return std::exchange(response_.body, {});
      });
}

base::Status Exchange::follow(const Taker& take, base::TimePoint deadline, std::stop_token stop) {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (response_.body.empty() && !is_slow_) taker_ = &take;
    }
    const auto bytes = runtime::stop_wait(
        mutex_, changed_, stop, deadline, [this] { return has_enough_ || !response_.body.empty() || ended_; },
        [&]() -> base::Result<std::string> {
          taker_ = nullptr;  // Whatever ended the wait, from here on `take` is the caller's.
          if (std::exchange(has_enough_, false)) return std::string();
          if (stop.stop_requested()) return gave_up(stop);  // Who is slower than the stream finds more each time.
          if (!response_.body.empty()) return std::exchange(response_.body, {});
          if (error_) return std::unexpected(*error_);
          return ended_ ? base::Result<std::string>(std::string()) : gave_up(stop);
        });
    if (!bytes) return std::unexpected(bytes.error());
    if (bytes->empty() || !take(*bytes)) return {};
  }
}

bool Exchange::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

}  // namespace http
