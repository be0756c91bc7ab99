// What a client sends to our server: one request after the other on a connection, in pieces of any size. What is read
// keeps to the limits, and what cannot be read has an answer.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "http/routes.h"
#include "http/server_request.h"
#include "tests/fuzz/pieces.h"

namespace {

constexpr http::ServerLimits kSmall{.header_bytes = 1000, .body_bytes = 1000};
constexpr std::size_t kMostNamed = 2 * kSmall.header_bytes;  // In the head, and once more behind the last chunk.

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
  std::optional<http::RequestReader> reader(kSmall);
  while (!pieces.empty()) {
    unread += pieces.next();
    while (!unread.empty()) {
      boost::beast::error_code failure;
      unread.erase(0, reader->put(unread, failure));
      if (failure == boost::beast::http::error::need_more) {
        if (unread.size() >= kSmall.header_bytes) std::abort();  // The server has room for no more.
        break;
      }
      if (failure) {
        if (http::refusal(failure).status < 400) std::abort();
        return 0;
      }
      const http::Request request = http::to_request(reader->release());
      if (size_of(request) > kMostNamed || request.body.size() > kSmall.body_bytes) std::abort();
      if (routes.answer(request).status < 200) std::abort();
      reader.emplace(kSmall);
    }
  }
  return 0;
}
