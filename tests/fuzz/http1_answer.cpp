// What a server sends on an HTTP/1.1 connection: a whole answer, then a stream. Every exchange must end when the
// connection does, and no head is larger than we accept.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "http/http1_session.h"
#include "tests/fuzz/pieces.h"

namespace {

constexpr http::Tuning kSmall{.max_header_bytes = 1000, .max_body_bytes = 1000, .stream_window = 70'000};

std::size_t size_of(const http::Headers& headers) {
  std::size_t out = 0;
  for (const http::Header& header : headers) out += header.name.size() + header.value.size();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Pieces pieces(data, size);
  http::Http1Session session("server:443", kSmall);
  auto mode = http::Exchange::Mode::whole;
  std::shared_ptr<http::Exchange> exchange;
  while (!pieces.empty() && !session.over()) {
    if (session.takes_requests()) {
      exchange = std::make_shared<http::Exchange>(http::Request(), mode, kSmall.max_body_bytes);
      mode = http::Exchange::Mode::streamed;
      session.start(exchange);
    }
    const bool goes_on = session.outgoing() && session.receive(pieces.next());
    if (size_of(exchange->headers()) > kSmall.max_header_bytes) std::abort();
    if (!goes_on) break;
  }
  session.input_ended();
  session.fail_all({base::Fault::unavailable, "over"});
  if (exchange && !exchange->ended()) std::abort();
  return 0;
}
