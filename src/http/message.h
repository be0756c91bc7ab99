#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace http {

struct Header {
  std::string name;  // In lower case, as HTTP/2 wants it.
  std::string value;
};
using Headers = std::vector<Header>;

// The first value of a header, if there is one.
std::optional<std::string_view> find(const Headers& headers, std::string_view name);

struct Request {
  std::string method = "GET";
  std::string target = "/";  // Path and query, escaped.
  Headers headers;
  std::string body;
};

struct Response {
  int status = 0;
  Headers headers;
  std::string body;
};

}  // namespace http
