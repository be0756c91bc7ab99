#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace http {

// Where a server is: `https://[fd00::1]:6443/prefix`. User names, queries and fragments have no place in one, and
// parse() repeats in no error what may be a password.
struct Url {
  std::string scheme;  // "http" or "https".
  std::string host;    // A name or an address, without brackets.
  std::uint16_t port = 0;
  std::string path;       // Without the last slash: "" or "/prefix".
  std::string user = {};  // "name:password", for a proxy that asks who we are; text() does not tell it.

  static base::Result<Url> parse(std::string_view text);

  std::string authority() const;  // As in the Host header: "[fd00::1]:6443".
  std::string text() const;

  bool operator==(const Url&) const = default;
};

// Percent-encodes what may not stand in a path segment or a query value (RFC 3986, 2.3).
std::string escape(std::string_view text);
std::string unescape(std::string_view text);  // What is no escape stays as it is.

}  // namespace http
