#include "http/server_request.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <boost/beast/http/error.hpp>
#include <gtest/gtest.h>

namespace http {
namespace {

using boost::beast::http::error;
using namespace std::string_literals;

constexpr ServerLimits kSmallServer{.header_bytes = 1000, .body_bytes = 1000};

struct ReadRequest {
  std::size_t names = 0;  // In the head.
  int refused = 0;
  std::string body;
};

ReadRequest read_in_pieces(std::string_view bytes, std::size_t piece) {
  RequestReader reader(kSmallServer);
  std::string unread;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    unread += bytes.substr(0, piece);
    boost::beast::error_code failure;
    unread.erase(0, reader.put(unread, failure));
    if (failure == error::need_more) continue;
    if (failure) return {.refused = refusal(failure).status, .body = {}};
    const Request request = to_request(reader.release());
    return {.names = request.headers.size(), .body = request.body};
  }
  return {};
}

std::string head_of(std::size_t size) {
  constexpr std::string_view kStart = "POST / HTTP/1.1\r\nContent-Length: 4\r\nx:";
  std::string out(kStart);
  while (out.size() + 10 <= size) out += "\r\na:";
  return out + std::string(size - out.size() - 4, 'x') + "\r\n\r\n";
}

TEST(RequestReader, a_head_has_one_limit_in_pieces_of_any_size) {
  const std::string fits = head_of(kSmallServer.header_bytes);
  const std::string too_large = head_of(kSmallServer.header_bytes + 1);
  ASSERT_EQ(fits.size(), kSmallServer.header_bytes);
  for (std::size_t piece = 1; piece <= too_large.size(); piece += 1 + piece / 10) {
    const ReadRequest whole = read_in_pieces(fits + "body", piece);
    EXPECT_GT(whole.names, 100U) << piece;
    EXPECT_EQ(whole.body, "body") << piece;
    EXPECT_EQ(read_in_pieces(too_large + "body", piece).refused, 431) << piece;
  }
}

TEST(RequestReader, what_stands_around_chunks_has_a_limit_in_pieces_of_any_size) {
  const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "a:\r\n";
  for (const std::string& endless : {"1;" + std::string(4000, 'x'), "0\r\n" + lines + "\r\n"}) {
    for (std::size_t piece = 1; piece < 300; piece += 1 + piece / 10) {
      EXPECT_EQ(read_in_pieces(head + endless, piece).refused, 431) << endless.substr(0, 4) << " " << piece;
    }
  }
}

// Beast counts a line in 16 bits, and throws for one that they do not count.
TEST(RequestReader, a_line_of_64_kib_is_refused_though_the_limit_is_larger) {
  RequestReader reader({.header_bytes = 1U << 20U, .body_bytes = 1000});
  boost::beast::error_code failure;
  (void)reader.put("GET / HTTP/1.1\r\nX: " + std::string(65'534, 'x') + "\r\n\r\n", failure);
  EXPECT_EQ(refusal(failure).status, 431) << failure.message();
}

// Lines end in CR LF and nothing else, and who says two lengths has one meant for somebody else (RFC 9112, 2.2
// and 6.3).
TEST(RequestReader, what_two_servers_could_read_in_two_ways_is_refused) {
  for (const char* bytes : {
           "GET / HTTP/1.1\nHost: x\n\n",
           "GET / HTTP/1.1\r\nHost: x\nX: y\r\n\r\n",
           "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
           "GET / HTTP/1.1\r\n Host: x\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody!",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n",
           "\r\nGET / HTTP/1.1\r\n\r\n",
       }) {
    EXPECT_EQ(read_in_pieces(bytes, 1000).refused, 400) << bytes;
    EXPECT_EQ(read_in_pieces(bytes + "\r\n\r\n"s, 1).refused, 400)
        << bytes;  // Where it waits for the end of a head first.
  }
}

TEST(RequestReader, a_folded_line_is_one_with_a_space) {
  RequestReader reader(kSmallServer);
  boost::beast::error_code failure;
  (void)reader.put("GET / HTTP/1.1\r\nX-Who: you\r\n\t and me\r\n\r\n", failure);
  ASSERT_FALSE(failure) << failure.message();
  EXPECT_EQ(find(to_request(reader.release()).headers, "x-who"), "you and me");
}

}  // namespace
}  // namespace http
