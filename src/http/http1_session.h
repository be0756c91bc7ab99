#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/exchange.h"
#include "http/session.h"
#include "http/tuning.h"

namespace http {

// HTTP/1.1: one exchange after the other. A request that is given up takes the connection with it, and a stream that
// nobody reads is left in the socket, where TCP slows the peer down.
class Http1Session final : public Session {
 public:
  Http1Session(std::string authority, const Tuning& tuning);
  ~Http1Session() override;

  bool takes_requests() const override { return !over_ && !exchange_; }
  void start(std::shared_ptr<Exchange> exchange) override;
  bool cancel(const Exchange& exchange) override;
  bool consumed(const Exchange& exchange, std::size_t bytes) override;
  bool ping() override { return false; }

  bool wants_input() const override { return unread_ < tuning_.stream_window; }
  base::Status receive(std::string_view bytes) override;
  void input_ended() override;
  void input_lost() override;
  base::Result<std::string_view> outgoing() override;

  bool going_away() const override { return over_; }
  bool empty() const override { return !exchange_; }
  bool over() const override { return over_; }
  void fail_all(const base::Error& error) override;

 private:
  class Parser;  // One answer.

  bool is_unasked() const { return !exchange_ || (served_ && !unsent_.empty()); }
  void expect_answer();
  void finish();
  base::Status refuse(const base::Error& error);

  const std::string authority_;
  const Tuning tuning_;
  std::shared_ptr<Exchange> exchange_;
  std::unique_ptr<Parser> parser_;
  std::string unparsed_;
  std::string unsent_;
  std::string sent_;
  std::size_t unread_ = 0;  // Of a stream, by the caller.
  bool served_ = false;     // An answer: the server may leave from then on, whatever we are about to ask.
  bool over_ = false;
};

}  // namespace http
