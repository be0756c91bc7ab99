#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/exchange.h"

namespace http {

// What is spoken over one connection, without its socket: the peer's bytes go in, ours come out, exchanges are served.
// Used by one thread. Whatever the peer sends ends in an error of receive() or of single exchanges, never in more.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  virtual bool takes_requests() const = 0;
  virtual void start(std::shared_ptr<Exchange> exchange) = 0;              // While it takes requests.
  virtual bool cancel(const Exchange& exchange) = 0;                       // False: not one of ours (any more).
  virtual bool consumed(const Exchange& exchange, std::size_t bytes) = 0;  // The caller took this much of a stream.
  virtual bool ping() = 0;                                                 // False: the protocol has no such thing.

  virtual bool wants_input() const = 0;  // Not while the caller has yet to take what came.
  virtual base::Status receive(std::string_view bytes) = 0;
  virtual void input_ended() = 0;  // The peer will send no more, in good order.
  virtual void input_lost() = 0;   // It will send no more, or nothing that could be read.
  // The next bytes for the peer, none when empty; valid until the next call of anything here.
  virtual base::Result<std::string_view> outgoing() = 0;

  virtual bool going_away() const = 0;  // The peer takes no new requests.
  virtual bool empty() const = 0;       // Nothing under way.
  virtual bool over() const = 0;        // Nothing more can come of this connection.

  // Ends everything under way; for a connection that is gone.
  virtual void fail_all(const base::Error& error) = 0;
  // Exchanges the peer refused before it looked at them: safe to send again elsewhere.
  std::vector<std::shared_ptr<Exchange>> take_refused() { return std::exchange(refused_, {}); }

 protected:
  std::vector<std::shared_ptr<Exchange>> refused_;
};

}  // namespace http
