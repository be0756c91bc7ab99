#include "state/node_facts.h"

#include <gtest/gtest.h>

namespace state {
namespace {

net::Address ip(std::string_view text) {
  return net::Address::parse(text).value();
}
net::InterfaceName dev(std::string_view text) {
  return net::InterfaceName::parse(text).value();
}

TEST(NodeFacts, addresses_with_a_subnet_on_a_card_are_the_nodes_own_and_vips_are_not) {
  NetState seen;
  seen.observed_links = {{.link = {.name = dev("vips"), .kind = LinkKind::dummy}}};
  for (const char* text : {"10.0.0.11/24 dev eth0", "203.0.113.1/32 dev eth0", "203.0.113.2/24 dev lo",
                           "203.0.113.3/24 dev vips", "10.96.0.1/32 dev kube-ipvs0", "2001:db8::11/64 dev eth0"}) {
    seen.addresses.push_back(parse_address(text).value());
  }
  seen.opaque_addresses = {{.key = {.dev = dev("eth1"), .local = ip("198.51.100.11"), .length = 24}}};
  const NodeFacts facts = facts_of(seen, {});
  EXPECT_EQ(facts.own, (std::set{ip("10.0.0.11"), ip("2001:db8::11"), ip("198.51.100.11")}));
  EXPECT_EQ(facts.bound.size(), 7U);
}

TEST(NodeFacts, H2_cilium_is_known_by_its_link_or_by_its_rules) {
  EXPECT_FALSE(facts_of({}, {}).cilium);
  EXPECT_TRUE(facts_of({.observed_links = {{.link = {.name = dev("cilium_host")}}}}, {}).cilium);
  const auto rule = [](std::string_view text) { return parse_rule(net::Family::v4, text).value(); };
  EXPECT_TRUE(facts_of({.rules = {rule("9: from all fwmark 0x200/0xf00 lookup 2004")}}, {}).cilium);
  EXPECT_FALSE(facts_of({.rules = {rule("9: from all fwmark 0x200/0xf00 lookup 100")}}, {}).cilium);
}

TEST(NodeFacts, capabilities_say_what_was_tried) {
  EXPECT_EQ(
      text(Capabilities{.rule_protocol = true, .nft_maps = false}),
      "rule protocol: yes, nexthop objects: unknown, address protocol: unknown, nft maps: no, ct original: unknown");
}

TEST(NodeFacts, tables_tell_their_routes_and_the_devices_they_use) {
  NetState seen;
  seen.routes = {parse_route(net::Family::v4, "default via 198.51.100.1 dev eth1 table 100").value(),
                 parse_route(net::Family::v4, "10.1.0.0/16 dev eth2 table 100").value(),
                 parse_route(net::Family::v4, "default dev eth9 table 7").value()};
  seen.routes.push_back({.family = net::Family::v6, .table = 100, .nexthop = 5});
  seen.nexthops = {{.id = 5, .group = {{.id = 6}}}, {.id = 6, .dev = dev("eth3")}};
  const NodeFacts facts = facts_of(seen, {100, 200});
  ASSERT_EQ(facts.tables.size(), 4U);
  EXPECT_EQ(facts.tables[0].devices, (std::set{dev("eth1"), dev("eth2")}));
  EXPECT_EQ(facts.tables[0].routes, 2U);
  EXPECT_EQ(facts.tables[1].devices, std::set{dev("eth3")});
  EXPECT_EQ(facts.tables[2].routes, 0U);
}

TEST(NodeFacts, the_place_of_the_local_rule_and_vrfs_are_told_and_what_is_not_there_is_unknown) {
  EXPECT_EQ(facts_of({}, {}).local_rule_priority, std::nullopt);
  NetState seen;
  seen.rules = {parse_rule(net::Family::v4, "5: from 10.0.0.7 lookup local").value(),
                parse_rule(net::Family::v4, "100: from all lookup local").value()};
  seen.observed_links = {{.link = {.name = dev("red"), .kind = LinkKind::vrf, .table = 4242}}};
  const NodeFacts facts = facts_of(seen, {});
  EXPECT_EQ(facts.local_rule_priority, 100U);
  EXPECT_EQ(facts.vrfs, (std::map<net::InterfaceName, std::uint32_t>{{dev("red"), 4242}}));
}

}  // namespace
}  // namespace state
