#include <cerrno>

#include "kernel/rtnl/nexthop.h"
#include "tests/kernel/route_world.h"

namespace kernel::rtnl {
namespace {

using Lines = std::vector<std::string>;

class NexthopCodec : public RouteWorld {
 protected:
  static state::Nexthop nexthop_of(net::Family family, std::string_view text) {
    const auto nexthop = state::parse_nexthop(family, text).value();
    EXPECT_TRUE(validate(nexthop)) << text;
    return nexthop;
  }
  base::Status make(net::Family family, std::string_view text) {
    return socket().transact(encode_add(nexthop_of(family, text), links()).value());
  }
  base::Status drop(net::Family family, std::string_view text) {
    return socket().transact(encode_remove(nexthop_of(family, text)).value());
  }

  Lines nexthops() {
    Lines out;
    const LinkTable names = links();
    EXPECT_TRUE(socket().dump(encode_nexthop_dump(), [&](const Received& message) -> base::Status {
      const auto decoded = TRY(decode_nexthop(message, names));
      out.push_back(std::visit([](const auto& one) { return text(one); }, decoded));
      return {};
    }));
    return out;
  }
};

TEST_F(NexthopCodec, every_nexthop_is_made_read_found_there_and_removed) {
  run("ip nexthop add id 1 via 10.0.0.1 dev eth0 proto 183; ip nexthop add id 2 via 10.0.1.1 dev eth1 proto 183");
  const Lines others = nexthops();
  EXPECT_EQ(others, (Lines{"id 1 via 10.0.0.1 dev eth0 proto 183", "id 2 via 10.0.1.1 dev eth1 proto 183"}));
  const std::vector<std::pair<net::Family, std::string>> lines = {
      {v4, "id 5 via 10.0.0.9 dev eth0 proto 183"},
      {v4, "id 5 via 10.9.0.1 dev eth0 proto 183 onlink"},
      {v4, "id 5 dev eth0 proto 183"},
      {v6, "id 5 via fd00::1 dev eth0 proto 183"},
      {v4, "id 5 blackhole proto 183"},
      {v4, "id 5 group 1/2,20 proto 183"},
      {v4, "id 5 group 1,255/2 proto 183"},
      {v4, "id 5 group 1/2 type resilient buckets 32 idle_timer 12000 unbalanced_timer 500 proto 183"},
  };
  for (const auto& [family, line] : lines) {
    const auto made = make(family, line);
    ASSERT_TRUE(made) << line << ": " << made.error().message();
    Lines expected = others;
    expected.push_back(line);
    EXPECT_EQ(nexthops(), expected);
    EXPECT_EQ(make(family, line).error().errno_value(), EEXIST) << line;
    EXPECT_TRUE(drop(family, line)) << line;
    EXPECT_EQ(drop(family, line).error().errno_value(), ENOENT) << line;
  }
}

TEST_F(NexthopCodec, replace_moves_every_route_over_it_at_once) {
  ASSERT_TRUE(make(v4, "id 5 via 10.0.0.1 dev eth0 proto 183"));
  ASSERT_TRUE(add(v4, "192.0.2.0/24 nhid 5 table 7 proto 183"));
  const auto moved = nexthop_of(v4, "id 5 via 10.0.1.1 dev eth1 proto 183");
  ASSERT_TRUE(socket().transact(encode_replace(moved, links()).value()));
  EXPECT_EQ(nexthops(), Lines{"id 5 via 10.0.1.1 dev eth1 proto 183"});
  EXPECT_NE(run("ip route show table 7").find("via 10.0.1.1 dev eth1"), std::string::npos);
  EXPECT_EQ(table(v4, 7), Lines{"192.0.2.0/24 nhid 5 table 7 proto 183"}) << "the route itself is the same";
}

TEST_F(NexthopCodec, removing_a_nexthop_takes_its_routes_without_an_event) {
  ASSERT_TRUE(make(v4, "id 5 via 10.0.0.1 dev eth0 proto 183"));
  ASSERT_TRUE(add(v4, "192.0.2.0/24 nhid 5 table 7 proto 183"));
  Listener routes({RTNLGRP_IPV4_ROUTE});
  Listener nexthop_events({RTNLGRP_NEXTHOP});
  ASSERT_TRUE(drop(v4, "id 5 via 10.0.0.1 dev eth0 proto 183"));
  EXPECT_EQ(table(v4, 7), Lines{});
  EXPECT_EQ(routes.count(RTM_DELROUTE), 0);
  EXPECT_EQ(nexthop_events.count(RTM_DELNEXTHOP), 1) << "so their own group is followed";
}

TEST_F(NexthopCodec, link_down_takes_nexthops_and_their_routes) {
  ASSERT_TRUE(make(v4, "id 5 via 10.0.0.1 dev eth0 proto 183"));
  ASSERT_TRUE(add(v4, "192.0.2.0/24 nhid 5 table 7 proto 183"));
  run("ip link set eth0 down");
  EXPECT_EQ(nexthops(), Lines{});
  EXPECT_EQ(table(v4, 7), Lines{});
}

TEST_F(NexthopCodec, group_lives_on_without_a_member_that_went) {
  ASSERT_TRUE(make(v4, "id 1 via 10.0.0.1 dev eth0 proto 183"));
  ASSERT_TRUE(make(v4, "id 2 via 10.0.1.1 dev eth1 proto 183"));
  ASSERT_TRUE(make(v4, "id 5 group 1/2 proto 183"));
  ASSERT_TRUE(add(v4, "192.0.2.0/24 nhid 5 table 7 proto 183"));
  run("ip link set eth0 down");
  EXPECT_EQ(nexthops(), (Lines{"id 2 via 10.0.1.1 dev eth1 proto 183", "id 5 group 2 proto 183"}));
  EXPECT_EQ(table(v4, 7), Lines{"192.0.2.0/24 nhid 5 table 7 proto 183"});
}

TEST_F(NexthopCodec, blackhole_object_is_not_a_blackhole_route) {
  ASSERT_TRUE(make(v4, "id 5 blackhole proto 183"));
  ASSERT_TRUE(add(v4, "192.0.2.0/24 nhid 5 table 7 proto 183"));
  EXPECT_EQ(table(v4, 7), Lines{"192.0.2.0/24 nhid 5 table 7 proto 183"});
}

TEST_F(NexthopCodec, unknown_settings_are_opaque_and_incomplete_messages_are_not_made) {
  run("ip nexthop add id 9 via 10.0.0.1 fdb");
  EXPECT_EQ(nexthops(), Lines{"id 9 (attribute 11) proto 0"});
  EXPECT_EQ(encode_remove(state::Nexthop{.id = 5}).error().fault(), base::Fault::bug);
  EXPECT_EQ(encode_remove(state::Nexthop{.protocol = 183}).error().fault(), base::Fault::bug);
}

}  // namespace
}  // namespace kernel::rtnl
