#include "http/exchange.h"

#include <utility>

#include "runtime/stop_wait.h"

namespace http {

using base::Fault;

namespace {

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
    if (taker_ == nullptr) {
      if (mode_ == Mode::whole && bytes.size() > body_limit_ - response_.body.size()) return false;
      response_.body += bytes;
    } else {
      if ((*taker_)(bytes)) return true;  // The caller sleeps on.
      taker_ = nullptr;
    }
  }
  if (mode_ == Mode::streamed) changed_.notify_all();
  return true;
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
      [this]() -> base::Result<std::string> {
        // What came before a failure is still true: it is handed over first.
        if (response_.body.empty() && error_) return std::unexpected(*error_);
        return std::exchange(response_.body, {});
      });
}

base::Status Exchange::follow(const Taker& take, base::TimePoint deadline, std::stop_token stop) {
  {
    const std::lock_guard lock(mutex_);
    const std::string before = std::exchange(response_.body, {});
    if (!before.empty() && !take(before)) return {};
    taker_ = &take;
  }
  return runtime::stop_wait(
      mutex_, changed_, stop, deadline, [this] { return taker_ == nullptr || ended_; },
      [&]() -> base::Status {
        const bool has_enough = std::exchange(taker_, nullptr) == nullptr;
        if (has_enough || (ended_ && !error_)) return {};
        if (ended_) return std::unexpected(*error_);
        return gave_up(stop);
      });
}

bool Exchange::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

}  // namespace http
