// What a server sends on an HTTP/1.1 connection: a whole answer, then a stream. Every exchange must end when the
// connection does.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "http/http1_session.h"

namespace {

constexpr http::Tuning kSmall{.max_header_bytes = 1000, .max_body_bytes = 1000, .stream_window = 70'000};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto cut = static_cast<std::size_t>(static_cast<unsigned char>(rest.front())) + 1;
  rest.remove_prefix(1);

  http::Http1Session session("server:443", kSmall);
  auto mode = http::Exchange::Mode::whole;
  std::shared_ptr<http::Exchange> exchange;
  for (; !rest.empty() && !session.over(); rest.remove_prefix(std::min(cut, rest.size()))) {
    if (session.takes_requests()) {
      exchange = std::make_shared<http::Exchange>(http::Request(), mode, kSmall.max_body_bytes);
      mode = http::Exchange::Mode::streamed;
      session.start(exchange);
    }
    if (!session.outgoing() || !session.receive(rest.substr(0, cut))) break;
  }
  session.input_ended();
  session.fail_all({base::Fault::unavailable, "over"});
  if (exchange && !exchange->ended()) std::abort();
  return 0;
}
