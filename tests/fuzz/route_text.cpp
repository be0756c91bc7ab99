// Texts of routes, addresses, nexthops, links and claims: what parses must survive its own text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "state/address.h"
#include "state/link.h"
#include "state/nexthop.h"
#include "state/route.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const auto family : {net::Family::v4, net::Family::v6}) {
    // Another family's prefix has a text that the family's own words cannot say: such a route is never desired.
    const auto route = state::parse_route(family, input);
    if (route && validate(*route) && state::parse_route(family, text(*route)).value() != *route) std::abort();
    const auto nexthop = state::parse_nexthop(family, input);
    if (nexthop && validate(*nexthop) && state::parse_nexthop(family, text(*nexthop)).value() != *nexthop) std::abort();
  }
  const auto address = state::parse_address(input);
  if (address && validate(*address) && state::parse_address(text(*address)).value() != *address) std::abort();
  const auto link = state::parse_link(input);
  if (link && validate(*link) && state::parse_link(text(*link)).value() != *link) std::abort();
  return 0;
}
