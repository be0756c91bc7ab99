#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "plan/objects.h"

namespace plan {
namespace {

using state::OpaqueRoute;
using state::Route;
using state::RouteKey;

// What stands in one place of a table; IPv4 allows several.
struct Place {
  std::vector<const Route*> own{};
  const OpaqueRoute* own_opaque = nullptr;
  std::string foreign{};  // The text of one.
};
using Places = std::unordered_map<RouteKey, Place>;

Places places_of(const state::NetState& observed, const Ownership& ownership) {
  Places out;
  for (const Route& route : observed.routes) {
    Place& place = out[key(route)];
    if (ownership.owns(route)) place.own.push_back(&route);
    if (!ownership.owns(route)) place.foreign = text(route);
  }
  for (const OpaqueRoute& route : observed.opaque_routes) {
    Place& place = out[route.key];
    if (ownership.owns(route)) place.own_opaque = &route;
    if (!ownership.owns(route)) place.foreign = text(route);
  }
  return out;
}

base::Status check(const Route& route, const Ownership& ownership) {
  TRY(state::validate(route));
  if (ownership.owns(route)) return {};
  return base::fail(base::Fault::invalid, fmt::format("protocol: {} is not ours", route.protocol));
}

std::string named(const Route& route) {
  return fmt::format("{} route {}", net::text(route.family), text(route));
}

// Earlier is what answers before: of one table the longer prefix, the narrower source, a type of service, the lower
// metric.
bool answers_before(const Route& one, const Route& other) {
  const auto rank = [](const Route& route) {
    return std::tuple(route.family, route.table, -route.to.length(), route.from ? -route.from->length() : 0,
                      route.tos == 0, route.metric);
  };
  return std::tuple(rank(one), one) < std::tuple(rank(other), other);
}

const Route& made_by(const Op& op) {
  if (const auto* const added = std::get_if<Add<Route>>(&op)) return added->object;
  return std::get<Replace<Route>>(op).to;
}

// The kernel looks a gateway up in the route's own table first, so what it is found by must be there.
void bases_first(std::vector<Op>& ops) {
  std::set<std::pair<std::uint32_t, net::Address>> gateways;
  for (const Op& op : ops) {
    for (const state::RouteHop& hop : made_by(op).hops) {
      if (hop.via && !hop.onlink) gateways.emplace(made_by(op).table, *hop.via);
    }
  }
  std::ranges::stable_partition(ops, [&](const Op& op) {
    const Route& route = made_by(op);
    const bool direct = std::ranges::none_of(route.hops, [](const auto& hop) { return hop.via.has_value(); });
    return direct && std::ranges::any_of(gateways, [&](const auto& gateway) {
             return gateway.first == route.table && route.to.contains(gateway.second);
           });
  });
}

void bar(const Route& route, std::string reason, Changes& out) {
  out.obstacles.push_back({.desired = named(route), .reason = std::move(reason)});
  out.without.insert(table_of(route));
}

// The addresses from which the node can send, or will when the plan is done.
std::set<net::Address> sources_of(const state::NetState& observed, const state::NetState& desired) {
  std::set<net::Address> out;
  for (const state::InterfaceAddress& address : observed.addresses) out.insert(address.local);
  for (const state::OpaqueAddress& address : observed.opaque_addresses) out.insert(address.key.local);
  for (const state::InterfaceAddress& address : desired.addresses) out.insert(address.local);
  return out;
}

// Removes from the place what is wanted there; what then is left of it is surplus.
void meet(Place& place, const Route& wanted, bool verified, Changes& out) {
  // The kernel has no two equal routes. A dump repeats some when others change theirs meanwhile: to remove the second
  // would remove the only one.
  if (std::erase_if(place.own, [&](const Route* own) { return *own == wanted; }) > 0) return;
  if (!place.foreign.empty()) {
    bar(wanted, fmt::format("foreign {} is there", place.foreign), out);
    return;
  }
  if (place.own.empty() && place.own_opaque == nullptr) {
    out.make.emplace_back(Add<Route>{wanted});
    return;
  }
  // Ours, but another. On an unverified view it may have become a foreign one, and a replace would not ask.
  if (verified) {
    Replace<Route> replace{.from = place.own.empty() ? std::nullopt : std::optional(*place.own.front()), .to = wanted};
    out.make.emplace_back(std::move(replace));
  }
  if (!place.own.empty()) place.own.erase(place.own.begin());
  place.own_opaque = nullptr;
}

}  // namespace

Changes diff_routes(const state::NetState& observed, bool verified, const state::NetState& desired,
                    const Ownership& ownership) {
  Changes out;
  Places places = places_of(observed, ownership);
  std::unordered_map<RouteKey, Route> wanted;
  std::vector<Route> given = desired.routes;
  for (Route& route : given) route = state::canonical(std::move(route));
  std::ranges::sort(given);
  const std::set<net::Address> sources = sources_of(observed, desired);
  for (const Route& route : given) {
    if (auto status = check(route, ownership); !status) {
      bar(route, status.error().message(), out);
    } else if (verified && route.source && !sources.contains(*route.source)) {
      bar(route, fmt::format("src: {} is no address of this node", route.source->text()), out);
    } else if (const auto [first, fresh] = wanted.try_emplace(key(route), route); !fresh && first->second != route) {
      out.obstacles.push_back({.desired = named(route), .reason = fmt::format("{} is there", text(first->second))});
    }
  }
  for (const auto& [place, route] : wanted) meet(places[place], route, verified, out);

  std::vector<const Route*> surplus;
  for (const auto& [where, place] : places) {
    surplus.insert(surplus.end(), place.own.begin(), place.own.end());
    if (place.own_opaque != nullptr) out.unmake.emplace_back(Remove<OpaqueRoute>{*place.own_opaque});
  }
  std::ranges::sort(out.unmake, {},
                    [](const Op& op) -> const OpaqueRoute& { return std::get<Remove<OpaqueRoute>>(op).object; });
  std::ranges::sort(surplus, [](const Route* one, const Route* other) { return answers_before(*other, *one); });
  for (const Route* route : surplus) out.unmake.emplace_back(Remove<Route>{*route});
  std::ranges::sort(out.make,
                    [](const Op& one, const Op& other) { return answers_before(made_by(one), made_by(other)); });
  bases_first(out.make);
  std::ranges::sort(out.obstacles);
  return out;
}

}  // namespace plan
