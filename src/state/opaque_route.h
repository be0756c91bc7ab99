#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "state/route.h"

namespace state {

// An observed route with something in it that we do not know: never equal to any route, foreign unless its protocol
// says otherwise. The wire form is kept, because nothing less can name it in a request.
struct OpaqueRoute {
  RouteKey key{};
  std::uint8_t protocol = 0;
  std::string reason{};
  std::vector<std::byte> wire{};

  auto operator<=>(const OpaqueRoute&) const = default;
};

// "10.0.0.0/8 (attribute 22) table 7 proto 183"
std::string text(const OpaqueRoute& route);

}  // namespace state
