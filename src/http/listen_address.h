#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "net/address.h"

namespace http {

// Where a server listens, as Go programs write it: ":9090" (every address of both families), "127.0.0.1:9090",
// "[::1]:0", "localhost:9090". Port 0 takes a free one.
struct ListenAddress {
  std::optional<net::Address> address;
  std::uint16_t port = 0;

  static base::Result<ListenAddress> parse(std::string_view text);
  bool operator==(const ListenAddress&) const = default;
};

}  // namespace http
