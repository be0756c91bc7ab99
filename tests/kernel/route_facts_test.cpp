// What the kernel does with routes and the engine relies on; each is a contract to be checked on every kernel.
#include <array>
#include <cerrno>
#include <chrono>

#include "kernel/netlink/events.h"
#include "kernel/rtnl/nexthop.h"
#include "testbed/eventually.h"
#include "tests/kernel/route_world.h"

namespace kernel::rtnl {
namespace {

using RouteFacts = RouteWorld;
using Lines = std::vector<std::string>;

constexpr auto kViaEth0 = "192.0.2.0/24 via 10.0.0.1 dev eth0 table 7 proto 183";
constexpr auto kViaEth0V6 = "2001:db8::/32 via fd00::1 dev eth0 table 7 proto 183 metric 1024";

TEST_F(RouteFacts, link_down_takes_ipv4_routes_without_an_event_and_ipv6_routes_with_one) {
  ASSERT_TRUE(add(v4, kViaEth0));
  ASSERT_TRUE(add(v6, kViaEth0V6));
  Listener routes4({RTNLGRP_IPV4_ROUTE});
  Listener routes6({RTNLGRP_IPV6_ROUTE});
  Listener link({RTNLGRP_LINK});
  run("ip link set eth0 down");
  EXPECT_EQ(table(v4, 7), Lines{});
  EXPECT_EQ(table(v6, 7), Lines{});
  EXPECT_EQ(routes4.count(RTM_DELROUTE), 0);
  EXPECT_GE(routes6.count(RTM_DELROUTE), 1);
  EXPECT_GE(link.count(RTM_NEWLINK), 1);
}

TEST_F(RouteFacts, link_up_brings_back_only_the_connected_ipv4_route) {
  ASSERT_TRUE(add(v4, kViaEth0));
  ASSERT_TRUE(add(v6, kViaEth0V6));
  run("ip link set eth0 down; ip link set eth0 up");
  EXPECT_EQ(table(v4, 7), Lines{});
  EXPECT_EQ(table(v6, 7), Lines{});
  const Lines main4 = table(v4, 254);
  EXPECT_NE(std::ranges::find(main4, "10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.2"), main4.end());
  EXPECT_EQ(run("ip -6 addr show dev eth0 scope global"), "") << "the global IPv6 address went with the link";
}

TEST_F(RouteFacts, carrier_loss_leaves_routes_as_they_are) {
  ASSERT_TRUE(add(v4, kViaEth0));
  ASSERT_TRUE(add(v6, kViaEth0V6));
  run("ip link set far0 down");
  // The kernel looks at carriers in its own time.
  EXPECT_TRUE(testbed::eventually("the carrier is lost", std::chrono::seconds(30),
                                  [] { return run("ip route show table 7").contains("linkdown"); }));
  EXPECT_EQ(table(v4, 7), Lines{kViaEth0});
  EXPECT_EQ(table(v6, 7), Lines{kViaEth0V6});
}

TEST_F(RouteFacts, removing_the_last_address_of_a_link_takes_its_ipv4_routes_without_an_event) {
  ASSERT_TRUE(add(v4, kViaEth0));
  Listener routes({RTNLGRP_IPV4_ROUTE});
  Listener addresses({RTNLGRP_IPV4_IFADDR});
  run("ip addr del 10.0.0.2/24 dev eth0");
  EXPECT_EQ(table(v4, 7), Lines{});
  EXPECT_EQ(routes.count(RTM_DELROUTE), 3) << "only those of the address itself: connected, local, broadcast";
  EXPECT_EQ(addresses.count(RTM_DELADDR), 1);
}

TEST_F(RouteFacts, removing_one_address_of_several_leaves_routes_whose_gateway_is_out_of_reach_now) {
  run("ip addr add 10.0.7.2/24 dev eth0");
  ASSERT_TRUE(add(v4, kViaEth0));
  run("ip addr del 10.0.0.2/24 dev eth0");
  EXPECT_EQ(table(v4, 7), Lines{kViaEth0});
}

TEST_F(RouteFacts, routes_keep_a_source_that_went_except_in_main) {
  const std::string line = "192.0.2.0/24 dev eth1 table 7 proto 183 src 10.0.0.2";
  ASSERT_TRUE(add(v4, line));
  ASSERT_TRUE(add(v4, "192.0.2.0/24 dev eth1 proto 183 src 10.0.0.2"));
  run("ip addr del 10.0.0.2/24 dev eth0");
  EXPECT_EQ(table(v4, 7), Lines{line});
  EXPECT_EQ(table(v4, 254), Lines{"10.0.1.0/24 dev eth1 proto kernel scope link src 10.0.1.2"});
}

TEST_F(RouteFacts, exclusive_add_is_refused_by_any_route_of_the_same_key) {
  run("ip route add 192.0.2.0/24 dev eth1 table 7 proto 99");
  run("ip -6 route add 2001:db8::/32 dev eth1 table 7 proto 99");
  EXPECT_EQ(add(v4, kViaEth0).error().errno_value(), EEXIST);
  EXPECT_EQ(add(v6, kViaEth0V6).error().errno_value(), EEXIST);
  EXPECT_TRUE(add(v4, "192.0.2.0/24 via 10.0.0.1 dev eth0 table 7 proto 183 metric 5"));
  EXPECT_TRUE(add(v6, "2001:db8::/32 via fd00::1 dev eth0 table 7 proto 183 metric 5"));
}

TEST_F(RouteFacts, replace_overwrites_a_foreign_route) {
  run("ip route add 192.0.2.0/24 via 10.0.1.1 dev eth1 table 7 proto 99");
  run("ip -6 route add 2001:db8::/32 via fd00:1::1 dev eth1 table 7 proto 99");
  ASSERT_TRUE(replace(v4, kViaEth0));
  ASSERT_TRUE(replace(v6, kViaEth0V6));
  EXPECT_EQ(table(v4, 7), Lines{kViaEth0}) << "so it is sent only for a key that was read and is ours";
  EXPECT_EQ(table(v6, 7), Lines{kViaEth0V6});
}

TEST_F(RouteFacts, replace_turns_each_form_of_a_route_into_each_other_in_one_step) {
  const Lines forms4 = {
      kViaEth0,
      "192.0.2.0/24 dev eth1 table 7 proto 183 scope link",
      "192.0.2.0/24 table 7 proto 183 nexthop via 10.0.0.1 dev eth0 weight 1 nexthop via 10.0.1.1 dev eth1 weight 2",
      "blackhole 192.0.2.0/24 table 7 proto 183",
  };
  const Lines forms6 = {
      kViaEth0V6,
      "2001:db8::/32 dev eth1 table 7 proto 183 metric 1024",
      "2001:db8::/32 table 7 proto 183 metric 1024 nexthop via fd00::1 dev eth0 weight 1 nexthop via fd00:1::1 dev "
      "eth1 weight 1",
      "blackhole 2001:db8::/32 table 7 proto 183 metric 1024",
  };
  for (const auto& [family, forms] : {std::pair(v4, forms4), std::pair(v6, forms6)}) {
    for (const std::string& from : forms) {
      for (const std::string& to : forms) {
        ASSERT_TRUE(replace(family, from));
        const auto replaced = replace(family, to);
        ASSERT_TRUE(replaced) << from << " -> " << to << ": " << replaced.error().message();
        EXPECT_EQ(table(family, 7), Lines{to}) << from;
      }
    }
  }
}

TEST_F(RouteFacts, ipv6_replace_with_another_metric_adds_a_second_route) {
  ASSERT_TRUE(add(v6, kViaEth0V6));
  ASSERT_TRUE(replace(v6, "2001:db8::/32 via fd00::1 dev eth0 table 7 proto 183 metric 5"));
  EXPECT_EQ(table(v6, 7).size(), 2);
}

TEST_F(RouteFacts, without_exclusive_ipv4_stacks_and_ipv6_turns_into_multipath) {
  ASSERT_TRUE(add(v4, kViaEth0));
  ASSERT_TRUE(add(v6, kViaEth0V6));
  run("ip route prepend 192.0.2.0/24 via 10.0.1.1 dev eth1 table 7 proto 183");
  run("ip -6 route append 2001:db8::/32 via fd00:1::1 dev eth1 table 7 proto 183");
  EXPECT_EQ(table(v4, 7).size(), 2);
  EXPECT_EQ(table(v6, 7), Lines{"2001:db8::/32 table 7 proto 183 metric 1024 nexthop via fd00::1 dev eth0 weight 1 "
                                "nexthop via fd00:1::1 dev eth1 weight 1"});
}

TEST_F(RouteFacts, foreign_hop_in_an_ipv6_route_of_ours_makes_it_unequal_and_removal_leaves_the_foreign_part) {
  ASSERT_TRUE(add(v6, kViaEth0V6));
  run("ip -6 route append 2001:db8::/32 via fd00:1::1 dev eth1 table 7 proto 99");
  ASSERT_NE(table(v6, 7), Lines{kViaEth0V6});
  ASSERT_TRUE(remove(v6, kViaEth0V6));
  EXPECT_EQ(table(v6, 7), Lines{"2001:db8::/32 via fd00:1::1 dev eth1 table 7 proto 99 metric 1024"});
}

TEST_F(RouteFacts, delete_honours_the_protocol) {
  run("ip route add 192.0.2.0/24 via 10.0.0.1 dev eth0 table 7 proto 99");
  run("ip -6 route add 2001:db8::/32 via fd00::1 dev eth0 table 7 proto 99");
  EXPECT_EQ(remove(v4, kViaEth0).error().errno_value(), ESRCH);
  EXPECT_EQ(remove(v6, kViaEth0V6).error().errno_value(), ESRCH);
}

TEST_F(RouteFacts, delete_cannot_say_no_metric_or_no_gateway_for_ipv4) {
  ASSERT_TRUE(add(v4, "192.0.2.0/24 via 10.0.0.1 dev eth0 table 7 proto 183 metric 5"));
  EXPECT_TRUE(remove(v4, kViaEth0)) << "metric 0 in the request is any metric";
  ASSERT_TRUE(add(v4, kViaEth0));
  EXPECT_TRUE(remove(v4, "192.0.2.0/24 dev eth0 table 7 proto 183")) << "no gateway in the request is any gateway";
  EXPECT_EQ(table(v4, 7), Lines{});
}

TEST_F(RouteFacts, delete_takes_the_lowest_metric_first_so_metric_0_meets_itself) {
  ASSERT_TRUE(add(v4, "192.0.2.0/24 via 10.0.0.1 dev eth0 table 7 proto 183 metric 5"));
  ASSERT_TRUE(add(v4, kViaEth0));
  ASSERT_TRUE(remove(v4, kViaEth0));
  EXPECT_EQ(table(v4, 7), Lines{"192.0.2.0/24 via 10.0.0.1 dev eth0 table 7 proto 183 metric 5"});
}

TEST_F(RouteFacts, host_bits_are_refused_for_ipv4_and_masked_for_ipv6) {
  const std::string refused = run("! ip route add 192.0.2.9/24 dev eth0 table 7");
  EXPECT_NE(refused.find("Invalid prefix for given prefix length"), std::string::npos) << refused;
  run("ip -6 route add 2001:db8::9/32 dev eth0 table 7 proto 183");
  EXPECT_EQ(table(v6, 7), Lines{"2001:db8::/32 dev eth0 table 7 proto 183 metric 1024"});
}

TEST_F(RouteFacts, gateway_out_of_reach_is_told_by_its_errno) {
  const auto v4_status = add(v4, "192.0.2.0/24 via 10.9.9.9 dev eth0 table 7 proto 183");
  EXPECT_EQ(v4_status.error().errno_value(), ENETUNREACH);
  EXPECT_EQ(v4_status.error().message(), "kernel: ENETUNREACH (Nexthop has invalid gateway)");
  const auto v6_status = add(v6, "2001:db8::/32 via fd00:77::1 dev eth0 table 7 proto 183");
  EXPECT_EQ(v6_status.error().errno_value(), EHOSTUNREACH);
  EXPECT_EQ(add(v4, "192.0.2.0/24 via 10.0.1.1 dev eth0 table 7 proto 183").error().errno_value(), ENETUNREACH)
      << "a gateway of the other link";
}

TEST_F(RouteFacts, route_over_a_link_that_is_down_is_refused) {
  run("ip link set eth0 down");
  EXPECT_EQ(add(v4, "192.0.2.0/24 dev eth0 table 7 proto 183 scope link").error().errno_value(), ENETDOWN);
  EXPECT_EQ(add(v6, "2001:db8::/32 dev eth0 table 7 proto 183").error().errno_value(), ENETDOWN);
}

TEST_F(RouteFacts, source_that_is_no_address_of_the_node_is_refused) {
  EXPECT_EQ(add(v4, "192.0.2.0/24 dev eth0 table 7 proto 183 src 10.0.0.77").error().errno_value(), EINVAL);
  EXPECT_EQ(add(v6, "2001:db8::/32 dev eth0 table 7 proto 183 src fd00::77").error().errno_value(), EINVAL);
}

TEST_F(RouteFacts, events_of_routes_and_nexthops_carry_the_port_of_who_caused_them) {
  auto events = EventSocket::open(Bus::route, std::array<int, 2>{RTNLGRP_IPV4_ROUTE, RTNLGRP_NEXTHOP}).value();
  std::vector<std::uint32_t> ports;
  const auto note = [&](const Received& event) { ports.push_back(event.port); };
  ASSERT_TRUE(add(v4, "192.0.2.0/24 via 10.0.0.1 dev eth0 table 7 proto 183"));
  const auto nexthop = state::parse_nexthop(v4, "id 5 via 10.0.0.1 dev eth0 proto 183").value();
  ASSERT_TRUE(socket().transact(encode_add(nexthop, links()).value()));
  ASSERT_TRUE(events.drain(note));
  EXPECT_EQ(ports, (std::vector<std::uint32_t>{socket().port(), socket().port()}));
  ports.clear();
  run("ip route del 192.0.2.0/24 table 7; ip nexthop del id 5");
  ASSERT_TRUE(events.drain(note));
  ASSERT_EQ(ports.size(), 2);
  EXPECT_TRUE(ports[0] != socket().port() && ports[1] != socket().port());
}

TEST_F(RouteFacts, renamed_link_keeps_its_routes_under_the_new_name) {
  ASSERT_TRUE(add(v4, kViaEth0));
  run("ip link set eth0 down; ip link set eth0 name eth9; ip link set eth9 up");
  ASSERT_TRUE(add(v4, "192.0.2.0/24 via 10.0.0.1 dev eth9 table 7 proto 183"));
  EXPECT_EQ(table(v4, 7), Lines{"192.0.2.0/24 via 10.0.0.1 dev eth9 table 7 proto 183"});
  EXPECT_EQ(encode_add(route_of(v4, kViaEth0), links()).error().fault(), base::Fault::absent)
      << "wanted by the old name: nothing is sent";
}

}  // namespace
}  // namespace kernel::rtnl
