#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "state/route.h"

namespace path {

// What becomes of a packet.
struct Verdict {
  enum class Kind : std::uint8_t {
    leaves,  // By one of `hops`.
    delivered,
    broadcast,
    anycast,
    multicast,
    dropped,      // Without a word: blackhole.
    prohibited,   // With an answer that says so.
    unreachable,  // With an answer that says so; nobody having a route for it is the same.
  };
  Kind kind = Kind::unreachable;
  std::uint32_t table = 0;                 // Where the route was found; 0: nowhere.
  std::vector<state::RouteHop> hops = {};  // Several: flows are spread over them.
};

// "leaves by eth1 via 198.51.100.1", "is delivered on this host"
std::string text(const Verdict& verdict);

// Whether what the kernel did with one packet is what the walk said: one of the hops, where there are several.
bool agree(const Verdict& walked, const Verdict& kernel);

}  // namespace path
