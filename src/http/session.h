#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/exchange.h"
#include "http/tuning.h"

struct nghttp2_session;

namespace http {

// The HTTP/2 side of one connection without its socket: the peer's bytes go in, ours come out, exchanges are served.
// Used by one thread. Whatever the peer sends ends in an error of receive() or of single exchanges, never in more.
class Session {
 public:
  Session(std::string scheme, std::string authority, const Tuning& tuning);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  void start(std::shared_ptr<Exchange> exchange);
  bool cancel(const Exchange& exchange);                       // False: not one of ours (any more).
  bool consumed(const Exchange& exchange, std::size_t bytes);  // The caller took this much of a stream.
  void ping();

  base::Status receive(std::string_view bytes);
  // The next bytes for the peer, none when empty; valid until the next call of anything here.
  base::Result<std::string_view> outgoing();

  bool going_away() const { return going_away_; }  // The peer takes no new requests.
  bool empty() const { return streams_.empty(); }  // Nothing under way.
  bool over() const;                               // Neither side wants to read or write any more.

  // Exchanges the peer refused before it looked at them: safe to send again elsewhere.
  std::vector<std::shared_ptr<Exchange>> take_refused() { return std::exchange(refused_, {}); }
  // Ends everything under way; for a connection that is gone.
  void fail_all(const base::Error& error);

 private:
  struct Stream {
    std::shared_ptr<Exchange> exchange;
    std::size_t sent = 0;  // Of the request's body.
    int status = 0;
    Headers headers;
    std::size_t header_bytes = 0;
    bool head_done = false;
    bool ended = false;      // The peer has sent its last byte.
    bool too_large = false;  // We gave it up.
    bool abandoned = false;  // The caller did; the stream lives until its reset has left, for its body may be read.
  };
  struct Callbacks;  // What nghttp2 calls, with access to the above.

  std::int32_t id_of(const Exchange& exchange) const;  // 0: none.
  void close(std::int32_t id, std::uint32_t error_code);

  const std::string scheme_;
  const std::string authority_;
  const Tuning tuning_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Stream> streams_;
  std::vector<std::shared_ptr<Exchange>> refused_;
  bool going_away_ = false;
};

}  // namespace http
