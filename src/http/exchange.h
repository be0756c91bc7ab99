#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "http/message.h"

namespace http {

// Is given the pieces of a body as they come; false: it has enough.
using Taker = std::function<bool(std::string_view bytes)>;

// One request on its way, where the caller's thread and the transport thread meet. The transport delivers, the caller
// waits. It ends once, with finish() or fail(); what arrives after that is dropped.
class Exchange {
 public:
  enum class Mode {
    whole,     // The body is kept until its end, up to a limit.
    streamed,  // The body is handed over as it comes; what the caller has not taken is not granted to the peer again.
  };

  Exchange(Request request, Mode mode, std::size_t body_limit)
      : request_(std::move(request)), mode_(mode), body_limit_(body_limit) {}

  const Request& request() const { return request_; }
  Mode mode() const { return mode_; }

  // Transport thread.
  void deliver_head(int status, Headers headers);
  bool deliver_data(std::string_view bytes);  // False: a whole body has outgrown its limit.
  void finish();
  void fail(base::Error error);
  int attempts = 0;  // How often it was given to a connection.

  // The caller's thread. Each ends at the deadline with `timeout`, on stop with `cancelled`; a stream is left on stop
  // even where it has more to give.
  base::Status wait_head(base::TimePoint deadline, std::stop_token stop);
  base::Result<Response> wait_end(base::TimePoint deadline, std::stop_token stop);
  base::Result<std::string> read(base::TimePoint deadline, std::stop_token stop);  // Empty: the body has ended.
  // Until `take` has enough or the body ends. While the caller waits here, the transport thread calls `take` for small
  // pieces: each costs one wake-up then, not two. What is large, and everything once `take` was slow, is left to the
  // caller, so that nobody else on the connection waits for it.
  base::Status follow(const Taker& take, base::TimePoint deadline, std::stop_token stop);

  // After wait_head().
  int status() const { return response_.status; }
  const Headers& headers() const { return response_.headers; }
  bool ended() const;

 private:
  // What `then` returns once `ready`; both are called under the mutex.
  template <typename Ready, typename Then>
  auto wait(base::TimePoint deadline, const std::stop_token& stop, Ready ready, Then then) -> decltype(then());

  // Under the mutex.
  bool takes_here(std::string_view bytes) const;
  void take_here(std::string_view bytes);

  const Request request_;
  const Mode mode_;
  const std::size_t body_limit_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Response response_;
  const Taker* taker_ = nullptr;  // While the caller follows and has taken all that came.
  bool has_enough_ = false;       // So it said.
  bool is_slow_ = false;          // It was, once.
  bool head_ = false;
  bool ended_ = false;
  std::optional<base::Error> error_;
};

}  // namespace http
