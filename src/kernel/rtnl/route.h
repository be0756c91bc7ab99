#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/message.h"
#include "kernel/netlink/socket.h"
#include "kernel/rtnl/link_table.h"
#include "state/opaque_route.h"
#include "state/route.h"

namespace kernel::rtnl {

// Add, replace and remove share one encoder, so what is removed is what was added, attribute by attribute. A device
// that does not exist is Fault::absent.
//
// A route delete takes the first route that has what the request carries: without protocol a foreign one, without
// gateway any. So no message leaves here that lacks family, destination, table, metric or protocol: Fault::bug, in
// every build. What a route does *not* have cannot be said: for IPv4 a metric of 0, no gateway and no source mean
// "any" in a delete, so own routes of one table and destination should not differ in only that.
base::Result<Message> encode_add(const state::Route& route, const LinkTable& links);
// Overwrites whatever has the same key, foreign or not: only for a key that was read and is ours.
base::Result<Message> encode_replace(const state::Route& route, const LinkTable& links);
base::Result<Message> encode_remove(const state::Route& route, const LinkTable& links);
// By the wire form it was read in: every attribute, also those we do not know.
base::Result<Message> encode_remove(const state::OpaqueRoute& route);

// Which routes to read; what is not set is not restricted.
struct RouteFilter {
  net::Family family = net::Family::v4;
  std::optional<std::uint32_t> table{};
  std::optional<std::uint8_t> protocol{};
};
Message encode_dump(const RouteFilter& filter);

using DecodedRoute = std::variant<state::Route, state::OpaqueRoute>;

// From RTM_NEWROUTE or RTM_DELROUTE. A route with an attribute, flag, type or device we do not know is opaque; a
// message that is cut or whose lengths do not add up is an error. What reports on the route and is no part of it (dead,
// linkdown, offloaded) is left out.
base::Result<DecodedRoute> decode_route(const Received& message, const LinkTable& links);

// What a table is to us when the kernel says it does not exist: the one we fill is empty then; of any other, somebody
// gave us a wrong number.
enum class MissingTable : std::uint8_t { is_empty, is_error };

// Reads all routes that match into `visit`. The kernel's own word that it applied the filter is checked: without it
// the routes are sorted out here.
base::Result<Socket::Dump> dump_routes(Socket& socket, const RouteFilter& filter, MissingTable missing,
                                       const LinkTable& links, const std::function<base::Status(DecodedRoute)>& visit);

}  // namespace kernel::rtnl
