#include "http/server_request.h"

#include <string>
#include <utility>

#include <boost/beast/http/error.hpp>

#include "http/routes.h"

namespace http {

void expect_request(std::optional<RequestParser>& parser, const ServerLimits& limits) {
  parser.emplace();
  parser->header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  parser->body_limit(limits.body_bytes);
}

Request to_request(RequestParser::value_type&& from) {
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

std::optional<Response> refusal(boost::beast::error_code reason) {
  using boost::beast::http::error;
  if (reason.category() != boost::beast::http::make_error_code(error::end_of_stream).category()) return std::nullopt;
  if (reason == error::end_of_stream || reason == error::partial_message) return std::nullopt;
  if (reason == error::header_limit || reason == error::buffer_overflow) return plain_text(431, "headers too large\n");
  if (reason == error::body_limit) return plain_text(413, "body too large\n");
  return plain_text(400, "bad request\n");
}

}  // namespace http
