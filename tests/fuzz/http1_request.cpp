// What a client sends to our server: one request after the other on a connection, in pieces of any size. What is read
// keeps to the limits, and what cannot be read has an answer.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <boost/asio/buffer.hpp>

#include "http/routes.h"
#include "http/server_request.h"
#include "tests/fuzz/pieces.h"

namespace {

constexpr http::ServerLimits kSmall{.header_bytes = 1000, .body_bytes = 1000};

std::size_t size_of(const http::Request& request) {
  std::size_t out = request.method.size() + request.target.size();
  for (const http::Header& header : request.headers) out += header.name.size() + header.value.size();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Pieces pieces(data, size);
  http::Routes routes;
  routes.add("/", [](const http::Request& request) { return http::plain_text(200, request.body); }, {"GET", "POST"});
  std::string unread;
  std::optional<http::RequestParser> parser;
  http::expect_request(parser, kSmall);
  parser->eager(true);
  while (!pieces.empty()) {
    unread += pieces.next();
    while (!unread.empty()) {
      boost::beast::error_code error;
      const std::size_t taken = parser->put(boost::asio::buffer(unread), error);
      unread.erase(0, taken);
      if (error == boost::beast::http::error::need_more) break;
      if (error) {
        if (!http::refusal(error)) std::abort();
        return 0;
      }
      if (!parser->is_done()) {
        if (taken == 0) break;
        continue;
      }
      const http::Request request = http::to_request(parser->release());
      if (size_of(request) > kSmall.header_bytes || request.body.size() > kSmall.body_bytes) std::abort();
      if (routes.answer(request).status < 200) std::abort();
      http::expect_request(parser, kSmall);
      parser->eager(true);
    }
  }
  return 0;
}
