#include "path/table.h"

#include <algorithm>
#include <tuple>

namespace path {
namespace {

bool covers(const state::RouteKey& route, std::uint32_t table, const Packet& packet) {
  return route.family == packet.to.family() && route.table == table && route.to.contains(packet.to) &&
         (!route.from || route.from->contains(packet.from)) && (route.tos == 0 || route.tos == packet.tos);
}

// Which of two routes that cover a packet is asked first: the lesser.
auto order(const state::RouteKey& route) {
  return std::tuple(-route.to.length(), route.from ? -route.from->length() : 0, -static_cast<int>(route.tos),
                    route.metric);
}

bool is_up(const state::NetState& observed, const net::InterfaceName& dev) {
  return std::ranges::any_of(observed.observed_links,
                             [&](const state::ObservedLink& seen) { return seen.link.name == dev && seen.link.up; });
}

void add_nexthop(const state::NetState& observed, std::uint32_t id, std::vector<state::RouteHop>& hops) {
  for (const state::Nexthop& nexthop : observed.nexthops) {
    if (nexthop.id != id) continue;
    for (const state::NexthopMember& member : nexthop.group) add_nexthop(observed, member.id, hops);
    if (!nexthop.dev.empty()) hops.push_back({.dev = nexthop.dev, .via = nexthop.via, .onlink = nexthop.onlink});
  }
}

std::vector<state::RouteHop> usable_hops(const state::NetState& observed, const state::Route& route,
                                         const Packet& packet) {
  std::vector<state::RouteHop> hops = route.hops;
  if (route.nexthop != 0) add_nexthop(observed, route.nexthop, hops);
  std::erase_if(hops, [&](const state::RouteHop& hop) {
    return !is_up(observed, hop.dev) || (!packet.oif.empty() && hop.dev != packet.oif);
  });
  return hops;
}

}  // namespace

Found look_up(const state::NetState& observed, std::uint32_t table, const Packet& packet) {
  std::vector<const state::Route*> candidates;
  for (const state::Route& route : observed.routes) {
    if (covers(key(route), table, packet)) candidates.push_back(&route);
  }
  std::ranges::stable_sort(candidates, {}, [](const state::Route* route) { return order(key(*route)); });

  Found found;
  for (const state::Route* route : candidates) {
    std::vector<state::RouteHop> hops = usable_hops(observed, *route, packet);
    // What is delivered here or sent nowhere needs no way out.
    const bool needs_hop = route->type == state::RouteType::unicast;
    if (needs_hop && hops.empty()) continue;
    found.route = route;
    found.hops = std::move(hops);
    break;
  }
  for (const state::OpaqueRoute& route : observed.opaque_routes) {
    const bool earlier = found.route == nullptr || order(route.key) <= order(key(*found.route));
    if (covers(route.key, table, packet) && earlier) found.unread.push_back(&route);
  }
  return found;
}

}  // namespace path
