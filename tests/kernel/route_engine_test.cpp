// The engine over links, addresses, nexthops, routes and rules together.
#include "tests/kernel/engine_world.h"

namespace kernel::rtnl {
namespace {

using Lines = std::vector<std::string>;
using state::NetState;

using RouteEngine = EngineWorld;

TEST_F(RouteEngine, desired_objects_of_every_kind_appear_and_go_and_nothing_is_written_twice) {
  NetState wanted = routes({kDefault, "192.0.2.0/24 via 10.5.0.1 dev eth1 table 7 proto 183"}, {kDefaultV6});
  wanted.routes.push_back(route_of(v4, "198.51.100.0/24 nhid 5 table 7 proto 183"));
  wanted.addresses.push_back(state::parse_address("10.5.0.2/24 dev eth1 proto 183").value());
  wanted.nexthops.push_back(state::parse_nexthop(v4, "id 5 via 10.5.0.1 dev eth1 proto 183").value());
  wanted.rules.push_back(state::parse_rule(v4, "500: from 10.0.0.7 lookup 7 proto 183").value());
  const std::string before = run("ip rule; ip route show table all; ip -6 route show table all; ip nexthop; ip addr");

  const auto report = converge(wanted);
  EXPECT_TRUE(report.settled()) << text(report.left);
  EXPECT_EQ(report.outcome.count(Effect::done), 7);
  EXPECT_EQ(table(v4, 7).size(), 3);
  EXPECT_EQ(table(v6, 7), Lines{kDefaultV6});

  EXPECT_TRUE(converge(wanted).done.ops.empty()) << "quiet when right";
  EXPECT_TRUE(converge({}).settled());
  EXPECT_EQ(run("ip rule; ip route show table all; ip -6 route show table all; ip nexthop; ip addr"), before);
}

TEST_F(RouteEngine, change_of_a_gateway_is_one_replace) {
  converge(routes({kDefault}, {kDefaultV6}));
  const auto report = converge(
      routes({"default via 10.0.0.9 dev eth0 table 7 proto 183"}, {"default via fd00::9 dev eth0 table 7 proto 183"}));
  EXPECT_TRUE(report.settled());
  EXPECT_EQ(report.done.ops.size(), 2);
  EXPECT_EQ(table(v4, 7), Lines{"default via 10.0.0.9 dev eth0 table 7 proto 183"});
  EXPECT_EQ(table(v6, 7), Lines{"default via fd00::9 dev eth0 table 7 proto 183 metric 1024"});
}

TEST_F(RouteEngine, foreign_route_in_the_place_is_left_and_reported) {
  run("ip route add default via 10.0.0.9 dev eth0 table 7 proto static");
  const auto report = converge(routes({kDefault}));
  EXPECT_TRUE(report.done.ops.empty());
  ASSERT_EQ(report.left.obstacles.size(), 1);
  EXPECT_EQ(report.left.obstacles[0].reason, "foreign default via 10.0.0.9 dev eth0 table 7 proto static is there");
  EXPECT_EQ(table(v4, 7), Lines{"default via 10.0.0.9 dev eth0 table 7 proto static"});
}

TEST_F(RouteEngine, orphans_of_ours_go_in_tables_nobody_wants_anything_in) {
  run("ip route add 192.0.2.0/24 dev eth0 table 4000 proto 183; ip -6 route add 2001:db8::/32 dev eth0 proto 183");
  run("ip route add 192.0.3.0/24 dev eth0 table 4000 proto static");
  EXPECT_TRUE(converge({}).settled());
  EXPECT_EQ(run("ip route show table 4000"), "192.0.3.0/24 dev eth0 proto static scope link \n");
  EXPECT_EQ(run("ip -6 route show proto 183"), "");
}

TEST_F(RouteEngine, routes_come_back_after_a_link_flap) {
  const auto wanted = routes({kDefault}, {"default via fe80::1 dev eth0 table 7 proto 183"});
  EXPECT_TRUE(converge(wanted).settled());
  run("ip link set eth0 down; ip link set eth0 up");
  const auto report = converge(wanted);
  EXPECT_TRUE(report.settled()) << text(report.left);
  EXPECT_EQ(table(v4, 7), Lines{kDefault});
}

TEST_F(RouteEngine, what_lacks_its_link_or_gateway_is_pending_and_delays_nobody) {
  auto wanted = routes(
      {kDefault, "192.0.2.0/24 via 10.9.9.9 dev eth0 table 7 proto 183", "192.0.3.0/24 dev eth9 table 7 proto 183"});
  const auto report = converge(wanted);
  EXPECT_FALSE(report.settled());
  EXPECT_EQ(table(v4, 7), Lines{kDefault});
  EXPECT_EQ(report.outcome.count(Effect::failed), 0);
  EXPECT_GE(report.outcome.count(Effect::pending), 2);
  run("ip addr add 10.9.9.1/24 dev eth0");
  run("ip link add eth9 type veth peer name far9; ip link set eth9 up");
  EXPECT_TRUE(converge(wanted).settled());
}

TEST_F(RouteEngine, route_that_went_with_a_link_is_no_error_to_remove) {
  converge(routes({kDefault}));
  const auto plan = plan::diff(engine().observe({}).value(), {}, engine().ownership());
  run("ip link del eth0");
  const auto outcome = engine().apply(plan, {});
  ASSERT_EQ(outcome.results.size(), 1);
  EXPECT_EQ(outcome.results[0].effect, Effect::harmless);
}

}  // namespace
}  // namespace kernel::rtnl
