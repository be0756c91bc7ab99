#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "net/interface_name.h"
#include "net/prefix.h"

namespace state {

// The last four send packets nowhere and have no hops.
enum class RouteType : std::uint8_t {
  unicast,
  local,
  broadcast,
  anycast,
  multicast,
  blackhole,
  unreachable,
  prohibit,
  throw_back  // `throw`: go on with the next rule.
};
bool rejects(RouteType type);

// How far a destination is, with the kernel's numbers; others between them are allowed. IPv6 has only `global`.
inline constexpr std::uint8_t kScopeGlobal = 0;
inline constexpr std::uint8_t kScopeLink = 253;
inline constexpr std::uint8_t kScopeHost = 254;

enum class RoutePreference : std::uint8_t { medium, high, low };  // IPv6, RFC 4191.

// One way out. The gateway of an IPv4 route may be an IPv6 address.
struct RouteHop {
  net::InterfaceName dev{};
  std::optional<net::Address> via{};
  bool onlink = false;       // The gateway is on the link, whatever the addresses say.
  std::uint16_t weight = 1;  // 1 to 256, among several hops.

  auto operator<=>(const RouteHop&) const = default;
};

// What the kernel keeps for connections over the route. Those with units or words of their own (rtt, rto_min,
// features, congctl) are not offered.
enum class MetricKind : std::uint8_t {
  mtu,
  window,
  ssthresh,
  cwnd,
  advmss,
  reordering,
  hoplimit,
  initcwnd,
  initrwnd,
  quickack,
  fastopen_no_cookie
};

struct RouteMetric {
  MetricKind kind = MetricKind::mtu;
  std::uint32_t value = 0;
  bool locked = false;  // `mtu lock 1400`: the kernel does not learn another.

  auto operator<=>(const RouteMetric&) const = default;
};

// One `ip route`, with devices by name. Order: family, table, destination, then the rest.
struct Route {
  net::Family family = net::Family::v4;
  std::uint32_t table = 0;
  net::Prefix to{};
  std::optional<net::Prefix> from{};  // IPv6: only for these sources.
  std::uint8_t tos = 0;               // IPv4.
  std::uint32_t metric = 0;           // IPv6 makes 1024 of 0, and so does canonical().
  RouteType type = RouteType::unicast;
  std::uint8_t protocol = 0;  // Who made it: ours is Ownership's number.
  std::uint8_t scope = kScopeGlobal;
  RoutePreference preference = RoutePreference::medium;
  std::optional<net::Address> source{};  // `src`: what the node itself sends from.
  std::uint32_t nexthop = 0;             // A nexthop object instead of hops.
  std::vector<RouteHop> hops{};
  std::vector<RouteMetric> metrics{};

  auto operator<=>(const Route&) const = default;
};

// The kernel's identity for routes, as in fib_table_insert() and fib6_add_rt2node(): a second route with the same key
// is refused under NLM_F_EXCL, whatever its gateway and whoever made it.
struct RouteKey {
  net::Family family = net::Family::v4;
  std::uint32_t table = 0;
  net::Prefix to{};
  std::optional<net::Prefix> from{};
  std::uint8_t tos = 0;
  std::uint32_t metric = 0;

  auto operator<=>(const RouteKey&) const = default;
};
RouteKey key(const Route& route);

// The one form of routes that mean the same: hops and metrics in order, a metric of 0 left out, what the kernel does
// not keep (weight of a single hop, IPv6 scope) at its default.
Route canonical(Route route);

// What the kernel would refuse, or take for something else than it says; the message begins with the field's name.
// For routes that somebody desires: those observed are as they are.
base::Status validate(const Route& route);

// As a line of `ip route show table all`: "default via 10.0.0.1 dev eth0 table 100 proto 183 metric 20". No table means
// main. parse_route() takes every text() back.
std::string text(const Route& route);
base::Result<Route> parse_route(net::Family family, std::string_view text);

}  // namespace state

template <>
struct std::hash<state::RouteKey> {
  std::size_t operator()(const state::RouteKey& key) const noexcept;
};
