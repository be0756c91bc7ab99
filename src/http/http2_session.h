#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/exchange.h"
#include "http/session.h"
#include "http/tuning.h"

struct nghttp2_session;

namespace http {

// HTTP/2: any number of exchanges at a time, and flow control for each.
class Http2Session final : public Session {
 public:
  Http2Session(std::string scheme, std::string authority, const Tuning& tuning);
  ~Http2Session() override;

  bool takes_requests() const override { return !going_away_; }
  void start(std::shared_ptr<Exchange> exchange) override;
  bool cancel(const Exchange& exchange) override;
  bool consumed(const Exchange& exchange, std::size_t bytes) override;
  bool ping() override;

  bool wants_input() const override { return true; }
  base::Status receive(std::string_view bytes) override;
  void input_ended() override {}
  void input_lost() override {}
  base::Result<std::string_view> outgoing() override;

  bool going_away() const override { return going_away_; }
  bool empty() const override { return streams_.empty(); }
  bool over() const override;
  void fail_all(const base::Error& error) override;

 private:
  struct Stream {
    std::shared_ptr<Exchange> exchange;
    std::size_t sent = 0;  // Of the request's body.
    int status = 0;
    Headers headers;
    std::string fresh;  // Of a streamed body: what came in this piece of the peer's bytes.
    std::size_t header_bytes = 0;
    bool head_done = false;
    bool ended = false;      // The peer has sent its last byte.
    bool too_large = false;  // We gave it up.
    bool abandoned = false;  // The caller did; the stream lives until its reset has left, for its body may be read.
  };
  struct Callbacks;  // What nghttp2 calls, with access to the above.

  std::int32_t id_of(const Exchange& exchange) const;  // 0: none.
  static void deliver(Stream& stream);
  void close(std::int32_t id, std::uint32_t error_code);

  const std::string scheme_;
  const std::string authority_;
  const Tuning tuning_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Stream> streams_;
  bool going_away_ = false;
};

}  // namespace http
