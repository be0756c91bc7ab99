#include "cli/ip_routing_json.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using testing::ElementsAre;

// As iproute2 6.1 printed them with `ip -j route show table all`.
constexpr std::string_view kRoutes =
    R"([{"dst":"default","gateway":"198.51.100.1","dev":"eth1","table":"100","protocol":"183","metric":5,"flags":[],
"metrics":[{"mtu":1300}]},
{"dst":"default","table":"101","flags":[],"nexthops":[
{"gateway":"10.0.0.1","dev":"eth0","weight":2,"flags":["linkdown"]},
{"gateway":"198.51.100.1","dev":"eth1","weight":1,"flags":[]}]},
{"dst":"192.0.3.0/24","via":{"family":"inet6","host":"fe80::1"},"dev":"eth0","table":"102","flags":["linkdown"]},
{"dst":"192.0.4.0/24","tos":"0x10","dev":"eth0","scope":"link","flags":[]},
{"dst":"192.0.6.0/24","nhid":5,"gateway":"10.0.0.9","dev":"eth0","flags":[]},
{"dst":"192.0.8.0/24","gateway":"10.1.1.1","dev":"eth0","flags":["onlink","linkdown"]},
{"type":"blackhole","dst":"192.0.2.0/24","table":"100","flags":[]},
{"type":"local","dst":"10.0.0.11","dev":"eth0","table":"local","protocol":"kernel","scope":"host",
"prefsrc":"10.0.0.11","flags":[]},
{"dst":"default","gateway":"fe80::9","dev":"eth0","metric":1024,"flags":[],"pref":"high"},
{"dst":"fd01::/64","from":"fd00::/64","gateway":"fe80::8","dev":"eth0","metric":3,"flags":[],"pref":"medium"},
{"dst":"default","table":"7","metric":1024,"flags":[],"pref":"medium","nexthops":[
{"gateway":"fe80::1","dev":"eth0","weight":1,"flags":[]},{"gateway":"fe80::2","dev":"eth1","weight":1,"flags":[]}]},
{"dst":"10.9.0.0/16","encap":"mpls","dev":"eth0","table":"100","flags":[]},
{"dst":"10.8.0.0/16","gateway":"10.0.0.1","dev":"eth0","flags":["dead","linkdown"]}])";

TEST(IpRoutingJson, routes_are_read_as_ip_prints_them) {
  const auto dumped = parse_ip_routes(net::Family::v4, kRoutes);
  ASSERT_TRUE(dumped) << dumped.error().message();
  std::vector<std::string> texts;
  for (const state::Route& route : dumped->routes) texts.push_back(text(route));
  EXPECT_THAT(
      texts,
      ElementsAre("default via 198.51.100.1 dev eth1 table 100 proto 183 metric 5",
                  "default table 101 proto boot nexthop via 10.0.0.1 dev eth0 weight 2 nexthop via 198.51.100.1 "
                  "dev eth1 weight 1",
                  "192.0.3.0/24 via inet6 fe80::1 dev eth0 table 102 proto boot",
                  "192.0.4.0/24 tos 0x10 dev eth0 proto boot scope link",
                  "192.0.6.0/24 via 10.0.0.9 dev eth0 proto boot",
                  "192.0.8.0/24 via 10.1.1.1 dev eth0 proto boot onlink", "blackhole 192.0.2.0/24 table 100 proto boot",
                  "local 10.0.0.11 dev eth0 table local proto kernel scope host src 10.0.0.11",
                  "default via fe80::9 dev eth0 proto boot metric 1024 pref high",
                  "fd01::/64 from fd00::/64 via fe80::8 dev eth0 proto boot metric 3",
                  "default table 7 proto boot metric 1024 nexthop via fe80::1 dev eth0 weight 1 nexthop via "
                  "fe80::2 dev eth1 weight 1"));
  EXPECT_EQ(dumped->routes[8].family, net::Family::v6) << "a default route has no family of its own";
  EXPECT_EQ(dumped->routes[10].family, net::Family::v6);
}

TEST(IpRoutingJson, a_route_that_is_not_understood_keeps_its_place) {
  const auto dumped = parse_ip_routes(net::Family::v4, kRoutes);
  ASSERT_TRUE(dumped);
  ASSERT_EQ(dumped->unread.size(), 2U);
  EXPECT_EQ(dumped->unread[0].key.to.text(), "10.9.0.0/16");
  EXPECT_EQ(dumped->unread[0].key.table, 100U);
  EXPECT_EQ(dumped->unread[0].reason, "encap \"mpls\"");
  EXPECT_EQ(dumped->unread[1].reason, "its device is dead");
}

TEST(IpRoutingJson, a_value_is_one_word) {
  const auto dumped = parse_ip_routes(net::Family::v4, R"([{"dst":"10.0.0.0/8","dev":"eth0 table 7"}])");
  ASSERT_TRUE(dumped);
  EXPECT_TRUE(dumped->routes.empty());
  EXPECT_EQ(dumped->unread.size(), 1U);
  EXPECT_FALSE(parse_ip_routes(net::Family::v4, R"([{"dst":"10.0.0.0/8 table 7"}])"))
      << "nobody knows what it is about";
  EXPECT_FALSE(parse_ip_routes(net::Family::v4, "{}"));
  EXPECT_FALSE(parse_ip_routes(net::Family::v4, "default via 10.0.0.1"));
}

// As iproute2 6.1 printed them with `ip -j -d addr`, shortened.
constexpr std::string_view kLinks =
    R"([{"ifindex":1,"ifname":"lo","flags":["LOOPBACK","UP","LOWER_UP"],"mtu":65536,
"addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8,"scope":"host","valid_life_time":4294967295}]},
{"ifindex":3,"link":"p0","ifname":"eth0","flags":["NO-CARRIER","BROADCAST","MULTICAST","UP"],"mtu":1500,
"master":"red","linkinfo":{"info_kind":"veth"},"ifalias":"iprule:x y","addr_info":[
{"family":"inet","local":"10.0.0.11","prefixlen":24,"valid_life_time":4294967295},
{"family":"inet","local":"10.9.9.9","prefixlen":32,"dynamic":true,"valid_life_time":100},{}]},
{},
{"ifindex":4,"link":"eth0","ifname":"eth0.5","flags":["BROADCAST"],"mtu":1500,
"linkinfo":{"info_kind":"vlan","info_data":{"protocol":"802.1ad","id":5}}},
{"ifindex":5,"ifname":"red","flags":["NOARP","MASTER","UP","LOWER_UP"],"mtu":65575,
"linkinfo":{"info_kind":"vrf","info_data":{"table":77}}}])";

TEST(IpRoutingJson, links_and_addresses_are_read_as_ip_prints_them) {
  const auto dumped = parse_ip_links(kLinks);
  ASSERT_TRUE(dumped) << dumped.error().message();
  std::vector<std::string> texts;
  for (const state::ObservedLink& seen : dumped->links) texts.push_back(text(seen.link));
  EXPECT_THAT(texts, ElementsAre("lo mtu 65536 up", "eth0 master red mtu 1500 up alias iprule:x y",
                                 "eth0.5 link eth0 mtu 1500 type vlan protocol 802.1ad id 5",
                                 "red mtu 65575 up type vrf table 77"));
  EXPECT_FALSE(dumped->links[1].carrier);
  EXPECT_TRUE(dumped->links[3].carrier);
  EXPECT_EQ(dumped->links[3].index, 5U);
  ASSERT_EQ(dumped->addresses.size(), 2U);
  EXPECT_EQ(text(dumped->addresses[1]), "10.0.0.11/24 dev eth0");
  ASSERT_EQ(dumped->leases.size(), 1U);
  EXPECT_EQ(dumped->leases[0].key.local.text(), "10.9.9.9");
}

TEST(IpRoutingJson, what_is_wrong_in_links_is_named_by_its_place) {
  const auto vrf = parse_ip_links(R"([{"ifname":"red","linkinfo":{"info_kind":"vrf"}}])");
  ASSERT_FALSE(vrf);
  EXPECT_THAT(vrf.error().message(), testing::HasSubstr("[0].linkinfo.info_data"));
  EXPECT_FALSE(parse_ip_links(R"([{"ifname":"a name that is too long for one"}])"));
}

}  // namespace
}  // namespace cli
