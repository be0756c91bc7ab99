// What a server sends on an HTTP/2 connection with three requests under way. Every exchange must end when the
// connection does, and a stream that nobody reads must not grow beyond its window.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "http/http2_session.h"
#include "tests/fuzz/pieces.h"

namespace {

constexpr http::Tuning kSmall{.max_header_bytes = 1000, .max_body_bytes = 1000, .stream_window = 70'000};

std::shared_ptr<http::Exchange> start(http::Session& session, http::Exchange::Mode mode, std::string body) {
  http::Request request;
  request.body = std::move(body);
  auto exchange = std::make_shared<http::Exchange>(std::move(request), mode, kSmall.max_body_bytes);
  session.start(exchange);
  return exchange;
}

void send_all(http::Session& session) {
  while (true) {
    const auto bytes = session.outgoing();
    if (!bytes || bytes->empty()) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Pieces pieces(data, size);
  http::Http2Session session("https", "server:443", kSmall);
  const std::vector<std::shared_ptr<http::Exchange>> exchanges = {
      start(session, http::Exchange::Mode::whole, ""),
      start(session, http::Exchange::Mode::streamed, ""),
      start(session, http::Exchange::Mode::whole, std::string(100'000, 'x')),
  };
  send_all(session);
  while (!pieces.empty()) {
    if (!session.receive(pieces.next())) break;
    send_all(session);
  }
  auto refused = session.take_refused();
  for (const auto& exchange : refused) exchange->fail({base::Fault::unavailable, "refused"});
  (void)session.cancel(*exchanges[0]);
  send_all(session);
  session.fail_all({base::Fault::unavailable, "over"});
  for (const auto& exchange : exchanges) {
    if (!exchange->ended()) std::abort();
  }
  const auto unread = exchanges[1]->read(base::TimePoint::max(), {});
  if (unread && unread->size() > kSmall.stream_window) std::abort();
  return 0;
}
