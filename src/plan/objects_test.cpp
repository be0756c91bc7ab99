#include "plan/objects.h"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "plan/diff.h"

namespace plan {
namespace {

using net::Family;
using state::NetState;
using state::Route;
using state::Unverified;
using state::Verified;

// One object per line; the first word tells the kind. A route or nexthop with "::" is IPv6. Observed links get indices.
NetState world(std::initializer_list<const char*> lines) {
  NetState out;
  for (const std::string_view line : lines) {
    const std::string_view kind = line.substr(0, line.find(' '));
    const std::string_view rest = line.substr(kind.size() + 1);
    const Family family = rest.find("::") == rest.npos ? Family::v4 : Family::v6;
    if (kind == "rule") out.rules.push_back(state::parse_rule(family, rest).value());
    if (kind == "route") out.routes.push_back(state::parse_route(family, rest).value());
    if (kind == "nexthop") out.nexthops.push_back(state::parse_nexthop(family, rest).value());
    if (kind == "address") out.addresses.push_back(state::parse_address(rest).value());
    if (kind == "link") {
      out.links.push_back(state::parse_link(rest).value());
      const auto index = static_cast<std::uint32_t>(out.links.size());
      out.observed_links.push_back({.link = out.links.back(), .index = index});
    }
  }
  return out;
}

std::string planned(const NetState& observed, const NetState& desired) {
  return text(diff(Verified{observed}, desired, {}));
}

constexpr auto kRule = "rule 500: from 10.0.0.7 lookup 7 proto 183";
constexpr auto kRoute = "route default via 10.5.0.1 dev eth0.5 table 7 proto 183";
constexpr auto kBase = "route 10.5.0.0/24 dev eth0.5 table 7 proto 183 scope link";
constexpr auto kNexthop = "nexthop id 5 via 10.5.0.1 dev eth0.5 proto 183";
constexpr auto kAddress = "address 10.5.0.2/24 dev eth0.5 proto 183";
constexpr auto kLink = "link eth0.5 link eth0 up alias iprule:x type vlan protocol 802.1Q id 5";

TEST(Objects, are_made_from_the_ground_up_and_unmade_from_the_top_down) {
  const auto all = world({kRule, kRoute, kBase, kNexthop, kAddress, kLink});
  EXPECT_EQ(planned({}, all),
            "add link eth0.5 link eth0 up alias iprule:x type vlan protocol 802.1Q id 5\n"
            "add IPv4 address 10.5.0.2/24 dev eth0.5 proto 183\n"
            "add nexthop id 5 via 10.5.0.1 dev eth0.5 proto 183\n"
            "add IPv4 route 10.5.0.0/24 dev eth0.5 table 7 proto 183 scope link\n"
            "add IPv4 route default via 10.5.0.1 dev eth0.5 table 7 proto 183\n"
            "add IPv4 rule 500: from 10.0.0.7 lookup 7 proto 183\n");
  EXPECT_EQ(planned(all, {}),
            "remove IPv4 rule 500: from 10.0.0.7 lookup 7 proto 183\n"
            "remove IPv4 route default via 10.5.0.1 dev eth0.5 table 7 proto 183\n"
            "remove IPv4 route 10.5.0.0/24 dev eth0.5 table 7 proto 183 scope link\n"
            "remove nexthop id 5 via 10.5.0.1 dev eth0.5 proto 183\n"
            "remove IPv4 address 10.5.0.2/24 dev eth0.5 proto 183\n"
            "remove link eth0.5 link eth0 up alias iprule:x type vlan protocol 802.1Q id 5\n");
  EXPECT_EQ(planned(all, all), "");
}

TEST(Objects, foreign_object_in_the_place_stays_and_is_reported) {
  const auto observed =
      world({"route default via 10.0.0.1 dev eth0 table 7 proto static", "address 10.5.0.2/24 dev eth0.5",
             "nexthop id 5 dev eth1 proto static", "link eth0.5 up type dummy"});
  EXPECT_EQ(planned(observed, world({kRoute, kNexthop, kAddress, kLink})),
            "obstacle link eth0.5 link eth0 up alias iprule:x type vlan protocol 802.1Q id 5\n"
            "  foreign eth0.5 up type dummy is there\n"
            "obstacle IPv4 address 10.5.0.2/24 dev eth0.5 proto 183\n"
            "  foreign 10.5.0.2/24 dev eth0.5 is there\n"
            "obstacle nexthop id 5 via 10.5.0.1 dev eth0.5 proto 183\n"
            "  foreign id 5 dev eth1 proto static is there\n"
            "obstacle IPv4 route default via 10.5.0.1 dev eth0.5 table 7 proto 183\n"
            "  foreign default via 10.0.0.1 dev eth0 table 7 proto static is there\n");
  EXPECT_EQ(planned(observed, {}), "");
}

TEST(Objects, own_route_that_differs_is_replaced_in_one_step_on_a_verified_view_only) {
  const auto observed = world({"route default via 10.0.0.1 dev eth0 table 7 proto 183"});
  const auto desired = world({"route default via 10.0.0.9 dev eth0 table 7 proto 183"});
  EXPECT_EQ(planned(observed, desired),
            "replace IPv4 route default via 10.0.0.1 dev eth0 table 7 proto 183\n"
            "     to default via 10.0.0.9 dev eth0 table 7 proto 183\n");
  EXPECT_EQ(text(diff(Unverified{observed, "raced"}, desired, {})), "");
}

TEST(Objects, F6_a_route_that_a_raced_dump_shows_twice_is_not_removed) {
  EXPECT_EQ(text(diff(Unverified{world({kBase, kBase})}, world({kBase}), {})), "");
}

TEST(Objects, opaque_route_of_ours_is_replaced_or_removed_and_a_foreign_one_stays) {
  NetState observed;
  const auto where = key(state::parse_route(Family::v4, "default dev eth0 table 7").value());
  observed.opaque_routes.push_back({.key = where, .protocol = 183, .reason = "attribute 11"});
  EXPECT_EQ(planned(observed, {}), "remove IPv4 route default (attribute 11) table 7 proto 183\n");
  EXPECT_EQ(planned(observed, world({"route default dev eth0 table 7 proto 183"})),
            "replace one we do not understand\n     to default dev eth0 table 7 proto 183\n");
  observed.opaque_routes[0].protocol = 4;
  EXPECT_EQ(planned(observed, {}), "");
  EXPECT_EQ(planned(observed, world({"route default dev eth0 table 7 proto 183"})),
            "obstacle IPv4 route default dev eth0 table 7 proto 183\n"
            "  foreign default (attribute 11) table 7 proto static is there\n");
}

TEST(Objects, link_is_set_where_it_can_be_and_made_anew_where_it_must) {
  const auto observed = world({"link d0 mtu 1500 alias iprule:x type dummy"});
  EXPECT_EQ(planned(observed, world({"link d0 alias iprule:x type dummy"})), "");
  EXPECT_EQ(planned(observed, world({"link d0 mtu 1400 up alias iprule:x type dummy"})),
            "set link d0 mtu 1400 up alias iprule:x type dummy\n");
  EXPECT_EQ(planned(observed, world({"link d0 alias iprule:x type vrf table 9"})),
            "remove link d0 mtu 1500 alias iprule:x type dummy\n"
            "add link d0 alias iprule:x type vrf table 9\n");
}

TEST(Objects, parents_and_vrfs_come_before_what_stands_on_them) {
  EXPECT_EQ(planned({}, world({"link a link b alias iprule:x type vlan protocol 802.1Q id 5",
                               "link b link eth0 alias iprule:x type vlan protocol 802.1ad id 6",
                               "link c master z alias iprule:x type dummy", "link z alias iprule:x type vrf table 9"})),
            "add link z alias iprule:x type vrf table 9\n"
            "add link b link eth0 alias iprule:x type vlan protocol 802.1ad id 6\n"
            "add link c master z alias iprule:x type dummy\n"
            "add link a link b alias iprule:x type vlan protocol 802.1Q id 5\n");
}

TEST(Objects, members_come_before_their_group_and_go_after_it) {
  const auto all =
      world({"nexthop id 1 group 2/3 proto 183", "nexthop id 2 dev eth0 proto 183", "nexthop id 3 dev eth1 proto 183"});
  EXPECT_EQ(planned({}, all),
            "add nexthop id 2 dev eth0 proto 183\nadd nexthop id 3 dev eth1 proto 183\n"
            "add nexthop id 1 group 2/3 proto 183\n");
  EXPECT_EQ(planned(all, {}),
            "remove nexthop id 1 group 2/3 proto 183\n"
            "remove nexthop id 2 dev eth0 proto 183\nremove nexthop id 3 dev eth1 proto 183\n");
}

TEST(Objects, two_wishes_for_one_place_are_told_and_the_first_counts) {
  EXPECT_EQ(planned({}, world({"route default via 10.0.0.9 dev eth0 table 7 proto 183",
                               "route default via 10.0.0.1 dev eth0 table 7 proto 183"})),
            "add IPv4 route default via 10.0.0.1 dev eth0 table 7 proto 183\n"
            "obstacle IPv4 route default via 10.0.0.9 dev eth0 table 7 proto 183\n"
            "  default via 10.0.0.1 dev eth0 table 7 proto 183 is there\n");
}

TEST(Objects, what_cannot_be_is_reported_with_its_field) {
  EXPECT_EQ(planned({}, world({"route default via 10.0.0.1 table 7 proto 183", "route default dev eth0 proto static",
                               "address 10.0.0.1/24 dev eth0 proto 4", "link d0 type dummy"})),
            "obstacle link d0 type dummy\n  alias: does not begin with iprule:\n"
            "obstacle IPv4 address 10.0.0.1/24 dev eth0 proto 4\n  protocol: 4 is not ours\n"
            "obstacle IPv4 route default dev eth0 proto static\n  protocol: 4 is not ours\n"
            "obstacle IPv4 route default via 10.0.0.1 table 7 proto 183\n"
            "  dev: missing: the kernel would choose one\n");
}

TEST(Objects, S8_no_rule_is_wanted_over_a_table_in_which_a_route_cannot_be) {
  const auto desired = world({kRule, kRoute, "rule 501: from 10.0.0.8 lookup 8 proto 183"});
  const auto foreign = world({kRule, "route default via 10.0.0.1 dev eth0 table 7 proto static"});
  const std::string reported =
      "obstacle IPv4 route default via 10.5.0.1 dev eth0.5 table 7 proto 183\n"
      "  foreign default via 10.0.0.1 dev eth0 table 7 proto static is there\n"
      "obstacle rules that look up IPv4 table 7\n"
      "  it lacks a route that is wanted there\n";
  EXPECT_EQ(planned(foreign, desired),
            "add IPv4 rule 501: from 10.0.0.8 lookup 8 proto 183\n"
            "remove IPv4 rule 500: from 10.0.0.7 lookup 7 proto 183\n" +
                reported);
  EXPECT_EQ(text(diff(Unverified{foreign, "raced"}, desired, {})),
            "add IPv4 rule 501: from 10.0.0.8 lookup 8 proto 183\n" + reported)
      << "what stands is left where the view may be wrong";
}

TEST(Objects, S8_two_wishes_for_one_place_leave_the_rule_where_it_is) {
  const auto observed = world({kRule, kRoute});
  auto desired = observed;
  desired.routes.push_back(state::parse_route(Family::v4, "default via 10.5.0.9 dev eth0.5 table 7 proto 183").value());
  EXPECT_TRUE(diff(Verified{observed}, desired, {}).empty());
}

TEST(Objects, G3_a_route_whose_source_is_no_address_of_the_node_goes_on_a_verified_view) {
  const auto* const route = "route default dev eth0 table 7 proto 183 scope link src 10.0.0.2";
  const auto desired = world({route});
  EXPECT_EQ(planned(world({route, "address 10.0.0.2/24 dev eth1"}), desired), "");
  EXPECT_EQ(planned(world({route}), world({route, "address 10.0.0.2/24 dev eth1 proto 183"})),
            "add IPv4 address 10.0.0.2/24 dev eth1 proto 183\n")
      << "one that the plan makes will do";
  EXPECT_EQ(planned(world({route}), desired),
            "remove IPv4 route default dev eth0 table 7 proto 183 scope link src 10.0.0.2\n"
            "obstacle IPv4 route default dev eth0 table 7 proto 183 scope link src 10.0.0.2\n"
            "  src: 10.0.0.2 is no address of this node\n");
  EXPECT_EQ(text(diff(Unverified{world({route}), "raced"}, desired, {})), "");
}

// One table as the kernel looks it up: the longest prefix, then the lowest metric.
using Table = std::map<state::RouteKey, Route>;

std::string lookup(const Table& table, const net::Address& address) {
  const Route* best = nullptr;
  for (const auto& [place, route] : table) {
    if (!route.to.contains(address)) continue;
    const bool better = best == nullptr || route.to.length() > best->to.length() ||
                        (route.to.length() == best->to.length() && route.metric < best->metric);
    if (better) best = &route;
  }
  return best == nullptr ? "nothing" : std::string(best->hops.front().dev.text());
}

// False as the kernel's refusal.
bool apply(Table& table, const Op& op) {
  if (const auto* const added = std::get_if<Add<Route>>(&op)) {
    return table.emplace(key(added->object), added->object).second;
  }
  if (const auto* const replaced = std::get_if<Replace<Route>>(&op)) {
    return table.contains(key(replaced->to)) && (table[key(replaced->to)] = replaced->to, true);
  }
  const auto found = table.find(key(std::get<Remove<Route>>(op).object));
  if (found == table.end() || found->second != std::get<Remove<Route>>(op).object) return false;
  table.erase(found);
  return true;
}

NetState any_routes(bool with_foreign) {
  using rc::gen::element;
  NetState out;
  Table taken;
  const int count = *rc::gen::inRange(0, 10);
  for (int i = 0; i < count; ++i) {
    Route route{.table = 7, .metric = *element(0U, 5U, 9U), .protocol = 183};
    route.to =
        net::Prefix::parse(*element("0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3/32")).value();
    if (with_foreign && *element(0, 0, 0, 1) == 1) route.protocol = 4;
    route.hops.push_back({.dev = net::InterfaceName::parse(*element("eth0", "eth1")).value()});
    if (taken.emplace(key(route), route).second) out.routes.push_back(route);
  }
  return out;
}

Table table_of(const NetState& state) {
  Table out;
  for (const Route& route : state.routes) out.emplace(key(route), route);
  return out;
}

RC_GTEST_PROP(RouteLaw, the_plan_makes_the_table_equal_and_leaves_what_is_foreign, ()) {
  const NetState before = any_routes(true);
  const NetState desired = any_routes(false);
  Table table = table_of(before);
  const Plan plan = diff(Verified{before}, desired, {});
  for (const Op& op : plan.ops) RC_ASSERT(apply(table, op));
  Table expected;
  for (const Route& route : before.routes) {
    if (route.protocol != 183) expected.emplace(key(route), route);
  }
  const auto blocked = expected.size();
  for (const Route& route : desired.routes) expected.emplace(key(route), route);
  RC_ASSERT(table == expected);
  RC_ASSERT(plan.obstacles.size() == desired.routes.size() - (expected.size() - blocked));
  NetState after;
  for (const auto& [place, route] : table) after.routes.push_back(route);
  RC_ASSERT(diff(Verified{after}, desired, {}).empty());
}

RC_GTEST_PROP(RouteLaw, every_step_keeps_the_lookups_on_which_both_ends_agree, ()) {
  const NetState before = any_routes(false);
  const NetState after = any_routes(false);
  Table table = table_of(before);
  const Table start = table;
  const Table goal = table_of(after);
  for (const Op& op : diff(Verified{before}, after, {}).ops) {
    RC_ASSERT(apply(table, op));
    for (const auto* text : {"10.1.2.3", "10.1.2.4", "10.1.3.1", "10.2.0.1", "192.0.2.1"}) {
      const auto address = net::Address::parse(text).value();
      const std::string agreed = lookup(start, address);
      if (agreed == lookup(goal, address)) RC_ASSERT(lookup(table, address) == agreed);
    }
  }
}

RC_GTEST_PROP(RouteLaw, the_order_of_desired_routes_means_nothing, ()) {
  const NetState before = any_routes(true);
  NetState desired = any_routes(false);
  const Plan plan = diff(Verified{before}, desired, {});
  std::ranges::reverse(desired.routes);
  const Plan other = diff(Verified{before}, desired, {});
  RC_ASSERT(plan.ops == other.ops);
  RC_ASSERT(plan.obstacles == other.obstacles);
}

}  // namespace
}  // namespace plan
