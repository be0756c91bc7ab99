#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

namespace http {

// Gives one message to a parser of Beast's, and counts. The parser's own limit is for the bytes of one put(): a head
// whose lines come in small pieces never meets it, and neither does what stands between chunks and behind the last of
// them.
class Http1Feed {
 public:
  explicit Http1Feed(std::size_t limit) : limit_(limit) {}

  // How many of the unread bytes were taken. `need_more`: the rest is to be given again, with more behind it;
  // `header_limit`: no more would help.
  template <bool is_request>
  std::size_t put(boost::beast::http::basic_parser<is_request>& parser, std::string_view unread,
                  boost::beast::error_code& failure) {
    using boost::beast::http::error;
    for (std::size_t taken = 0;;) {
      const bool in_head = !parser.is_header_done();
      const std::size_t room = std::min(in_head ? limit_ - head_ : limit_, kMostAtOnce);
      const std::string_view piece = unread.substr(taken, room);
      const std::size_t step = parser.put(boost::asio::buffer(piece), failure);
      taken += step;
      if (in_head) head_ += step;
      if (parser.is_done() || (failure && failure != error::need_more)) return taken;
      failure = step == 0 && piece.size() == room ? error::header_limit : error::need_more;
      if (step == 0 || taken == unread.size()) return taken;
    }
  }

 private:
  // Beast counts the bytes of a field's value in 16 bits, and throws where they do not suffice.
  static constexpr std::size_t kMostAtOnce = std::numeric_limits<std::uint16_t>::max();

  const std::size_t limit_;
  std::size_t head_ = 0;  // So much of it was taken.
};

}  // namespace http
