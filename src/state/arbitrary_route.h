#pragma once

#include <string>

#include <rapidcheck.h>

#include "state/route.h"

// Routes for property tests: any combination that the text and the wire can hold.
namespace state {

inline RouteHop arbitrary_hop(net::Family family, int number) {
  RouteHop hop{.dev = net::InterfaceName::parse("eth" + std::to_string(number)).value()};
  if (*rc::gen::arbitrary<bool>()) {
    const bool mixed = family == net::Family::v6 || *rc::gen::arbitrary<bool>();
    hop.via = net::Address::parse(mixed ? "fe80::1" : "10.0.0.1").value();
    hop.onlink = *rc::gen::arbitrary<bool>();
  }
  hop.weight = *rc::gen::inRange<std::uint16_t>(1, 257);
  return hop;
}

inline Route arbitrary_route() {
  using rc::gen::element;
  Route route{.family = *element(net::Family::v4, net::Family::v6), .table = *element(1U, 254U, 255U, 4294967295U)};
  const bool is_v6 = route.family == net::Family::v6;
  const auto address = net::Address::parse(is_v6 ? "2001:db8:1:2:3:4:5:6" : "203.0.113.99").value();
  route.to = net::Prefix(address, *rc::gen::inRange(0, address.bits() + 1));
  if (is_v6 && *rc::gen::arbitrary<bool>()) route.from = net::Prefix(address, *rc::gen::inRange(1, 129));
  route.tos = is_v6 ? 0 : *element<std::uint8_t>(0, 0x10, 0xfc);
  route.metric = *rc::gen::arbitrary<std::uint32_t>();
  route.type = *element(RouteType::unicast, RouteType::local, RouteType::blackhole, RouteType::throw_back);
  route.protocol = *rc::gen::arbitrary<std::uint8_t>();
  route.scope = *rc::gen::arbitrary<std::uint8_t>();
  if (is_v6) route.preference = *element(RoutePreference::medium, RoutePreference::high, RoutePreference::low);
  if (*rc::gen::arbitrary<bool>()) route.source = address;
  if (!rejects(route.type)) {
    const int hops = *rc::gen::inRange(0, 4);
    for (int i = 0; i < hops; ++i) route.hops.push_back(arbitrary_hop(route.family, i));
    if (hops == 0) route.nexthop = *rc::gen::inRange(1U, 4294967295U);
  }
  for (const auto kind : {MetricKind::mtu, MetricKind::hoplimit, MetricKind::quickack}) {
    if (*rc::gen::arbitrary<bool>()) {
      route.metrics.push_back({.kind = kind, .value = *element(1U, 255U), .locked = *rc::gen::arbitrary<bool>()});
    }
  }
  return canonical(route);
}

}  // namespace state
