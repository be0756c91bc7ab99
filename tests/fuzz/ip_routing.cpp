// What `ip -j route` and `ip -j addr` printed, from any host. What is understood must survive its own text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cli/ip_routing_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto dumped = cli::parse_ip_routes(net::Family::v4, text)) {
    for (const state::Route& route : dumped->routes) {
      if (!state::validate(route)) continue;
      if (state::parse_route(route.family, state::text(route)).value() != route) std::abort();
    }
  }
  (void)cli::parse_ip_links(text);  // Never beyond its own bounds.
  return 0;
}
