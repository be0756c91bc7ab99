#pragma once

#include <cstddef>
#include <string_view>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "http/http1_feed.h"
#include "http/message.h"
#include "http/server.h"

// How the server reads a client's bytes; apart from its sockets, so that any bytes can be tried.
namespace http {

// One request, from bytes in pieces of any size.
class RequestReader {
 public:
  using Message = boost::beast::http::request<boost::beast::http::string_body>;

  explicit RequestReader(const ServerLimits& limits);

  // How many of the unread bytes were taken. No failure: the request is whole. `need_more`: the rest is to be given
  // again, with more behind it. Of any other one the client is told with a refusal().
  std::size_t put(std::string_view unread, boost::beast::error_code& failure);
  Message release() { return parser_.release(); }

 private:
  boost::beast::http::request_parser<boost::beast::http::string_body> parser_;
  Http1Feed feed_;
};

Request to_request(RequestReader::Message&& from);

// What a client is told whose request cannot be read.
Response refusal(boost::beast::error_code reason);

}  // namespace http
