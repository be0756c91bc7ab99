#include "http/server_request.h"

#include <cstdint>
#include <string>
#include <utility>

#include <boost/beast/http/error.hpp>

#include "http/routes.h"

namespace http {

RequestReader::RequestReader(const ServerLimits& limits) : feed_(limits.header_bytes) {
  parser_.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  parser_.body_limit(limits.body_bytes);
}

std::size_t RequestReader::put(std::string_view unread, boost::beast::error_code& failure) {
  using boost::beast::http::error;
  using boost::beast::http::field;
  const std::size_t taken = feed_.put(parser_, unread, failure);
  // Beast takes one whose body is coded in another way for one without a body.
  if (!failure && parser_.get().count(field::transfer_encoding) > 0 && !parser_.chunked()) {
    failure = error::bad_transfer_encoding;
  }
  return taken;
}

Request to_request(RequestReader::Message&& from) {
  Request out;
  out.method = std::string(from.method_string());
  out.target = std::string(from.target());
  for (const auto& field : from) {
    Header header{std::string(field.name_string()), std::string(field.value())};
    for (char& c : header.name) c = boost::beast::detail::ascii_tolower(c);
    out.headers.push_back(std::move(header));
  }
  out.body = std::move(from.body());
  return out;
}

Response refusal(boost::beast::error_code reason) {
  using boost::beast::http::error;
  if (reason == error::header_limit) return plain_text(431, "headers too large\n");
  if (reason == error::body_limit) return plain_text(413, "body too large\n");
  return plain_text(400, "bad request\n");
}

}  // namespace http
