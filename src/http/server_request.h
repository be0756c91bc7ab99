#pragma once

#include <optional>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "http/message.h"
#include "http/server.h"

// How the server reads a client's bytes; apart from its sockets, so that any bytes can be tried.
namespace http {

using RequestParser = boost::beast::http::request_parser<boost::beast::http::string_body>;

void expect_request(std::optional<RequestParser>& parser, const ServerLimits& limits);

Request to_request(RequestParser::value_type&& from);

// What a client is told whose request cannot be read; nothing where the connection itself is at an end.
std::optional<Response> refusal(boost::beast::error_code reason);

}  // namespace http
