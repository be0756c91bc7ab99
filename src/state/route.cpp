#include "state/route.h"

#include <algorithm>

#include <fmt/format.h>

#include "state/mix.h"
#include "state/words.h"

namespace state {
namespace {

using words::refuse;

constexpr std::uint32_t kDefaultMetricV6 = 1024;  // IP6_RT_PRIO_USER
constexpr unsigned kDscpBits = 0xfc;
constexpr std::uint16_t kMaxHopWeight = 256;

base::Status check_family(std::string_view field, net::Family family, const net::Prefix& prefix) {
  if (prefix.family() == family) return {};
  return refuse(field, fmt::format("{} is not {}", prefix.text(), net::text(family)));
}

base::Status check_selector(const Route& route) {
  TRY(check_family("to", route.family, route.to));
  if (route.from) TRY(check_family("from", route.family, *route.from));
  if (route.from && route.family == net::Family::v4) return refuse("from", "only for IPv6 routes");
  if (route.tos != 0 && route.family == net::Family::v6) return refuse("tos", "only for IPv4 routes");
  if ((route.tos & ~kDscpBits) != 0) {
    return refuse("tos", fmt::format("{:#04x} has bits outside {:#04x}", route.tos, kDscpBits));
  }
  if (route.table == 0) return refuse("table", "0 lets the kernel choose one");
  return {};
}

// As fib_props in net/ipv4/fib_semantics.c.
base::Status check_scope(const Route& route) {
  if (route.family == net::Family::v6) return {};
  const std::uint8_t least = route.type == RouteType::local                                           ? kScopeHost
                             : route.type == RouteType::broadcast || route.type == RouteType::anycast ? kScopeLink
                                                                                                      : kScopeGlobal;
  if (route.scope < least || route.scope > kScopeHost) {
    return refuse("scope", fmt::format("{} is not for this type of route", route.scope));
  }
  const bool gateway = std::ranges::any_of(route.hops, [](const RouteHop& hop) { return hop.via.has_value(); });
  if (gateway && route.scope >= kScopeLink) return refuse("scope", "a destination behind a gateway is not on the link");
  if (route.scope == kScopeHost && route.hops.size() > 1) return refuse("scope", "one's own address is in one place");
  return {};
}

base::Status check_hop(net::Family family, const RouteHop& hop) {
  if (hop.dev.empty()) return refuse("dev", "missing: the kernel would choose one");
  if (hop.via && family == net::Family::v6 && hop.via->family() == net::Family::v4) {
    return refuse("via", fmt::format("{} is not IPv6", hop.via->text()));
  }
  if (hop.via && hop.via->is_unspecified()) return refuse("via", fmt::format("{} is no gateway", hop.via->text()));
  if (hop.onlink && !hop.via) return refuse("onlink", "only with a gateway");
  if (hop.weight == 0 || hop.weight > kMaxHopWeight) {
    return refuse("weight", fmt::format("{} is not from 1 to {}", hop.weight, kMaxHopWeight));
  }
  return {};
}

base::Status check_hops(const Route& route) {
  if (rejects(route.type)) {
    if (!route.hops.empty()) return refuse("dev", "this type of route goes nowhere");
    if (route.nexthop != 0) return refuse("nhid", "this type of route goes nowhere");
    return {};
  }
  if (route.nexthop != 0 && !route.hops.empty()) return refuse("nhid", "stands instead of via and dev");
  if (route.nexthop != 0 && route.from) return refuse("from", "not with a nexthop object");
  if (route.nexthop == 0 && route.hops.empty()) return refuse("dev", "missing: the kernel would choose one");
  for (const RouteHop& hop : route.hops) TRY(check_hop(route.family, hop));
  for (std::size_t i = 1; i < route.hops.size(); ++i) {
    RouteHop before = route.hops[i - 1];
    before.weight = route.hops[i].weight;
    if (before == route.hops[i]) return refuse("nexthop", "twice the same: use its weight");
  }
  return {};
}

// The kernel cuts larger values down in silence: ip_metrics_convert().
std::uint32_t largest(MetricKind kind) {
  switch (kind) {
    case MetricKind::mtu:
      return 65535 - 15;
    case MetricKind::advmss:
      return 65535 - 40;
    case MetricKind::hoplimit:
      return 255;
    default:
      return 0xffffffff;
  }
}

base::Status check_metrics(const Route& route) {
  for (std::size_t i = 0; i < route.metrics.size(); ++i) {
    const RouteMetric& metric = route.metrics[i];
    if (metric.value > largest(metric.kind)) {
      return refuse("metrics", fmt::format("{} is more than {}", metric.value, largest(metric.kind)));
    }
    if (i > 0 && route.metrics[i - 1].kind == metric.kind) return refuse("metrics", "twice the same");
  }
  return {};
}

}  // namespace

bool rejects(RouteType type) {
  return type >= RouteType::blackhole;
}

RouteKey key(const Route& route) {
  return {.family = route.family,
          .table = route.table,
          .to = route.to,
          .from = route.from,
          .tos = route.tos,
          .metric = route.metric};
}

Route canonical(Route route) {
  if (route.family == net::Family::v6) {
    route.scope = kScopeGlobal;
    if (route.metric == 0) route.metric = kDefaultMetricV6;
  }
  if (route.from && route.from->length() == 0) route.from.reset();
  std::ranges::sort(route.hops);
  if (route.hops.size() == 1) route.hops.front().weight = 1;
  std::erase_if(route.metrics, [](const RouteMetric& metric) { return metric.value == 0; });
  std::ranges::sort(route.metrics);
  return route;
}

base::Status validate(const Route& route) {
  TRY(check_selector(route));
  if (route.protocol == 0) return refuse("protocol", "0 says nobody made the route");
  TRY(check_scope(route));
  TRY(check_hops(route));
  if (route.source && route.source->family() != route.family) {
    return refuse("src", fmt::format("{} is not {}", route.source->text(), net::text(route.family)));
  }
  if (route.preference != RoutePreference::medium && route.family == net::Family::v4) {
    return refuse("pref", "only for IPv6 routes");
  }
  return check_metrics(route);
}

}  // namespace state

std::size_t std::hash<state::RouteKey>::operator()(const state::RouteKey& key) const noexcept {
  std::size_t seed = key.table;
  state::mix(seed, std::hash<net::Prefix>()(key.to));
  if (key.from) state::mix(seed, std::hash<net::Prefix>()(*key.from));
  state::mix(seed, key.tos);
  state::mix(seed, key.metric);
  return seed;
}
