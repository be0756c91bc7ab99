#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "state/address.h"
#include "state/link.h"
#include "state/opaque_route.h"
#include "state/route.h"

namespace cli {

// What `ip -j route show table all` printed, of whichever families. Metrics (mtu and the like) are left out: they
// decide nothing about where a packet goes, and the dump does not tell which of them are locked.
struct DumpedRoutes {
  std::vector<state::Route> routes;
  std::vector<state::OpaqueRoute> unread;  // Those with something in them that we do not know.
};
base::Result<DumpedRoutes> parse_ip_routes(net::Family otherwise, std::string_view json);

// What `ip -j -d link` or `ip -j -d addr` printed; only the second has addresses.
struct DumpedLinks {
  std::vector<state::ObservedLink> links;
  std::vector<state::InterfaceAddress> addresses;
  std::vector<state::OpaqueAddress> leases;  // With an end of their life.
};
base::Result<DumpedLinks> parse_ip_links(std::string_view json);

}  // namespace cli
