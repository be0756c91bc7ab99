#include "kernel/observe_routing.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <linux/rtnetlink.h>

#include "kernel/netlink/events.h"
#include "kernel/rtnl/address.h"
#include "kernel/rtnl/link.h"
#include "kernel/rtnl/nexthop.h"
#include "kernel/rtnl/route.h"

namespace kernel {
namespace {

using net::Family;

constexpr std::array<int, 6> kGroups = {RTNLGRP_LINK,       RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
                                        RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,  RTNLGRP_NEXTHOP};

template <typename Known, typename Opaque>
void take(std::variant<Known, Opaque> decoded, std::vector<Known>& known, std::vector<Opaque>& opaque) {
  if (auto* const object = std::get_if<Known>(&decoded)) {
    known.push_back(std::move(*object));
  } else {
    opaque.push_back(std::get<Opaque>(std::move(decoded)));
  }
}

base::Result<bool> read_addresses(Socket& socket, const rtnl::LinkTable& links, state::NetState& into) {
  bool whole = true;
  for (const Family family : {Family::v4, Family::v6}) {
    const auto visit = [&](const Received& message) -> base::Status {
      take(TRY(rtnl::decode_address(message, links)), into.addresses, into.opaque_addresses);
      return {};
    };
    whole = !TRY(socket.dump(rtnl::encode_address_dump(family), visit)).interrupted && whole;
  }
  return whole;
}

base::Result<bool> read_nexthops(Socket& socket, const rtnl::LinkTable& links, state::NetState& into) {
  const auto visit = [&](const Received& message) -> base::Status {
    take(TRY(rtnl::decode_nexthop(message, links)), into.nexthops, into.opaque_nexthops);
    return {};
  };
  const auto dump = socket.dump(rtnl::encode_nexthop_dump(), visit);
  if (!dump && dump.error().errno_value() == EOPNOTSUPP) return true;  // Kernels before 5.3 have none.
  if (!dump) return std::unexpected(dump.error());
  return !dump->interrupted;
}

// Our own wherever they are, then everybody else's in the tables that matter.
base::Result<bool> read_routes(Socket& socket, const ObserveOptions& options, const rtnl::LinkTable& links,
                               state::NetState& into) {
  const auto ours = [&](const rtnl::DecodedRoute& route) {
    const auto* const known = std::get_if<state::Route>(&route);
    const auto protocol = known != nullptr ? known->protocol : std::get<state::OpaqueRoute>(route).protocol;
    return std::ranges::find(options.protocols, protocol) != options.protocols.end();
  };
  bool whole = true;
  const auto read = [&](const rtnl::RouteFilter& filter, bool own) -> base::Status {
    const auto visit = [&](rtnl::DecodedRoute route) -> base::Status {
      if (ours(route) == own) take(std::move(route), into.routes, into.opaque_routes);
      return {};
    };
    whole = !TRY(rtnl::dump_routes(socket, filter, rtnl::MissingTable::is_empty, links, visit)).interrupted && whole;
    return {};
  };
  for (const Family family : {Family::v4, Family::v6}) {
    for (const std::uint8_t protocol : options.protocols) {
      TRY(read({.family = family, .protocol = protocol}, true));
    }
    for (const std::uint32_t table : options.tables) TRY(read({.family = family, .table = table}, false));
  }
  return whole;
}

base::Result<bool> read_all(Socket& socket, const ObserveOptions& options, state::NetState& into) {
  into.observed_links = TRY(rtnl::read_links(socket));
  const rtnl::LinkTable links = rtnl::table_of(into.observed_links);
  const bool addresses = TRY(read_addresses(socket, links, into));
  const bool nexthops = TRY(read_nexthops(socket, links, into));
  const bool routes = TRY(read_routes(socket, options, links, into));
  return addresses && nexthops && routes;
}

// A route that nobody has. Asking to delete it takes the lock under which all of this changes; IPv6 routes alone have
// locks of their own, under which the change and its event happen together.
base::Result<bool> wait_for_writers(Socket& socket) {
  state::Route nobody{.family = Family::v4, .table = 0xffffffff, .type = state::RouteType::blackhole, .protocol = 183};
  nobody.to = net::Prefix::parse("240.0.0.0/32").value();
  nobody.metric = 0xffffffff;
  const auto status = socket.transact(TRY(rtnl::encode_remove(nobody, {})));
  if (status || status.error().errno_value() == ESRCH) return true;
  if (status.error().fault() == base::Fault::denied) return false;
  return std::unexpected(status.error());
}

void forget(state::NetState& into) {
  into.routes.clear();
  into.opaque_routes.clear();
  into.nexthops.clear();
  into.opaque_nexthops.clear();
  into.addresses.clear();
  into.opaque_addresses.clear();
  into.observed_links.clear();
}

}  // namespace

base::Result<bool> observe_routing(Socket& socket, const ObserveOptions& options, std::stop_token stop,
                                   state::NetState& into) {
  auto events = TRY(EventSocket::open(Bus::route, kGroups));
  for (int i = 0; i < options.tries; ++i) {
    if (stop.stop_requested()) return base::fail(base::Fault::cancelled, "stopped while reading routes");
    forget(into);
    TRY(events.drain());
    const bool whole = TRY(read_all(socket, options, into));
    const bool writers_are_done = TRY(wait_for_writers(socket));
    const auto inside = TRY(events.drain());
    if (whole && writers_are_done && inside.events == 0 && !inside.lost) return true;
  }
  return false;
}

}  // namespace kernel
