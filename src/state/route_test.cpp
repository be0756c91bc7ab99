#include "state/route.h"

#include <unordered_set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "state/arbitrary_route.h"

namespace state {
namespace {

using net::Family;

Route v4(std::string_view text) {
  return parse_route(Family::v4, text).value();
}

Route v6(std::string_view text) {
  return parse_route(Family::v6, text).value();
}

TEST(Route, text_is_a_line_of_ip_route) {
  for (const auto* line : {
           "default via 10.0.0.1 dev eth0 proto 183",
           "default via inet6 fe80::1 dev eth0 table 100 proto 183",
           "10.1.0.0/16 dev eth0 table 4294967295 proto kernel scope link src 10.1.0.7 metric 100",
           "192.0.2.1 tos 0x10 via 10.0.0.1 dev eth0 table 7 proto static metric 20 onlink mtu lock 1400 advmss 1300",
           "blackhole 203.0.113.0/24 table 7 proto 183",
           "throw default table 7 proto 183",
           "local 192.0.2.9 dev lo table local proto 183 scope host",
           "default nhid 12 table 7 proto 183",
           "default table 7 proto 183 nexthop via 10.0.0.1 dev eth0 weight 1 nexthop via 10.0.1.1 dev eth1 weight 20 "
           "onlink",
       }) {
    EXPECT_EQ(text(v4(line)), line);
  }
  for (const auto* line : {
           "default via fe80::1 dev eth0 table 100 proto 183 metric 1024",
           "default from 2001:db8::/32 via fe80::1 dev eth0 table 100 proto 183 metric 5 pref low",
           "unreachable fd00::/8 table 7 proto 183 metric 1024",
           "fd00::1 dev eth0 proto 183 metric 1024 hoplimit 9 pref high",
       }) {
    EXPECT_EQ(text(v6(line)), line);
  }
}

TEST(Route, wrong_text_is_refused_with_the_field) {
  const auto message = [](std::string_view text) { return parse_route(Family::v4, text).error().message(); };
  EXPECT_EQ(message(""), "to: missing");
  EXPECT_EQ(message("10.0.0.300"), "to: \"10.0.0.300\" is not an IP address");
  EXPECT_EQ(message("default via"), "via: has no value");
  EXPECT_EQ(message("default via 10.0.0 dev eth0"), "via: \"10.0.0\" is not an IP address");
  EXPECT_EQ(message("default dev abcdefghijklmnop"),
            "dev: interface name \"abcdefghijklmnop\" is longer than 15 characters");
  EXPECT_EQ(message("default dev eth0 table 4294967296"), "table: \"4294967296\" is not understood");
  EXPECT_EQ(message("default dev eth0 proto 256"), "protocol: \"256\" is not understood");
  EXPECT_EQ(message("default dev eth0 colour 3"), "\"colour\" is no word of a route");
}

TEST(Route, routes_that_mean_the_same_have_one_form) {
  EXPECT_EQ(v4("10.0.0.5/24 dev eth0"), v4("10.0.0.0/24 dev eth0"));
  EXPECT_EQ(v4("0.0.0.0/0 dev eth0"), v4("default dev eth0 table main scope global"));
  EXPECT_EQ(v4("default dev eth0 weight 7 mtu 0"), v4("default dev eth0"));
  EXPECT_EQ(v4("default nexthop dev b nexthop dev a weight 2"), v4("default nexthop dev a weight 2 nexthop dev b"));
  EXPECT_EQ(v4("default dev a advmss 1 mtu 2"), v4("default dev a mtu 2 advmss 1"));
  EXPECT_EQ(v6("default dev eth0 scope link"), v6("::/0 dev eth0 metric 1024"));
  EXPECT_NE(v6("default dev eth0"), v6("default dev eth0 metric 1"));
}

TEST(Route, key_is_what_the_kernel_tells_routes_apart_by) {
  const Route route = v4("10.0.0.0/8 via 10.0.0.1 dev eth0 table 7 proto 183 metric 5");
  EXPECT_EQ(key(route), key(v4("blackhole 10.0.0.0/8 table 7 proto static metric 5")));
  for (const auto* other : {"10.0.0.0/9 dev eth0 table 7 metric 5", "10.0.0.0/8 dev eth0 table 8 metric 5",
                            "10.0.0.0/8 dev eth0 table 7 metric 6", "10.0.0.0/8 tos 0x10 dev eth0 table 7 metric 5"}) {
    EXPECT_NE(key(route), key(v4(other))) << other;
  }
  EXPECT_NE(key(v6("default dev eth0")), key(v6("default from fd00::/8 dev eth0")));
}

TEST(Route, what_cannot_be_is_refused_with_the_field) {
  const auto refusal = [](const Route& route) {
    const auto status = validate(route);
    return status ? std::string("accepted") : status.error().message();
  };
  EXPECT_EQ(refusal(v4("default via 10.0.0.1 dev eth0 table 100 proto 183")), "accepted");
  EXPECT_EQ(refusal(v4("default via fe80::1 dev eth0 table 100 proto 183")), "accepted");
  EXPECT_EQ(refusal(v4("default dev eth0 table 0 proto 183")), "table: 0 lets the kernel choose one");
  EXPECT_EQ(refusal(v4("default dev eth0")), "protocol: 0 says nobody made the route");
  EXPECT_EQ(refusal(v4("fd00::/8 dev eth0 proto 183")), "to: fd00::/8 is not IPv4");
  EXPECT_EQ(refusal(v4("default via 10.0.0.1 proto 183")), "dev: missing: the kernel would choose one");
  EXPECT_EQ(refusal(v4("default proto 183")), "dev: missing: the kernel would choose one");
  EXPECT_EQ(refusal(v6("default via 10.0.0.1 dev eth0 proto 183")), "via: 10.0.0.1 is not IPv6");
  EXPECT_EQ(refusal(v4("default via 0.0.0.0 dev eth0 proto 183")), "via: 0.0.0.0 is no gateway");
  EXPECT_EQ(refusal(v4("default dev eth0 onlink proto 183")), "onlink: only with a gateway");
  EXPECT_EQ(refusal(v4("blackhole default dev eth0 proto 183")), "dev: this type of route goes nowhere");
  EXPECT_EQ(refusal(v4("default dev eth0 nhid 4 proto 183")), "nhid: stands instead of via and dev");
  EXPECT_EQ(refusal(v4("default proto 183 nexthop dev a nexthop dev a weight 2")),
            "nexthop: twice the same: use its weight");
  EXPECT_EQ(refusal(v4("default proto 183 nexthop dev a weight 257 nexthop dev b")),
            "weight: 257 is not from 1 to 256");
  EXPECT_EQ(refusal(v4("default via 10.0.0.1 dev eth0 scope link proto 183")),
            "scope: a destination behind a gateway is not on the link");
  EXPECT_EQ(refusal(v4("local 10.0.0.1 dev lo proto 183")), "scope: 0 is not for this type of route");
  EXPECT_EQ(refusal(v4("default tos 0x11 dev eth0 proto 183")), "tos: 0x11 has bits outside 0xfc");
  EXPECT_EQ(refusal(v6("default tos 0x10 dev eth0 proto 183")), "tos: only for IPv4 routes");
  EXPECT_EQ(refusal(v4("default dev eth0 src fd00::1 proto 183")), "src: fd00::1 is not IPv4");
  EXPECT_EQ(refusal(v4("default dev eth0 pref low proto 183")), "pref: only for IPv6 routes");
  EXPECT_EQ(refusal(v4("default dev eth0 mtu 65535 proto 183")), "metrics: 65535 is more than 65520");
  EXPECT_EQ(refusal(v4("default dev eth0 mtu 1400 mtu 1500 proto 183")), "metrics: twice the same");
}

RC_GTEST_PROP(Route, every_route_survives_its_text, ()) {
  const Route route = arbitrary_route();
  const auto again = parse_route(route.family, text(route));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == route);
}

RC_GTEST_PROP(Route, canonical_form_is_canonical, ()) {
  const Route route = arbitrary_route();
  RC_ASSERT(canonical(route) == route);
}

RC_GTEST_PROP(Route, equal_routes_have_equal_texts_and_keys, ()) {
  const Route one = arbitrary_route();
  const Route two = arbitrary_route();
  RC_ASSERT((one == two) == (text(one) == text(two) && one.family == two.family));
  RC_ASSERT((one < two) != (two <= one));
  if (key(one) == key(two)) RC_ASSERT(std::hash<RouteKey>()(key(one)) == std::hash<RouteKey>()(key(two)));
}

TEST(Route, hashes_of_many_destinations_differ) {
  std::unordered_set<std::size_t> hashes;
  for (int i = 0; i < 65536; ++i) {
    const auto destination = "10.1." + std::to_string(i / 256) + "." + std::to_string(i % 256);
    hashes.insert(std::hash<RouteKey>()(key(v4(destination + " dev eth0 table 7"))));
  }
  EXPECT_GT(hashes.size(), 65500);
}

}  // namespace
}  // namespace state
