#include "plan/undone.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "plan/diff.h"

namespace plan {
namespace {

using net::Family;

AddRule add_rule(std::string_view line) {
  return {.rule = state::parse_rule(Family::v4, line).value()};
}
RemoveRule remove_rule(std::string_view line) {
  return {.rule = state::parse_rule(Family::v4, line).value()};
}
state::Route route(std::string_view line, Family family = Family::v4) {
  return state::parse_route(family, line).value();
}
state::Nexthop nexthop(std::string_view line) {
  return state::parse_nexthop(Family::v4, line).value();
}

// Whether the second has to wait when the first was not done.
bool waits(const Op& first, const Op& second) {
  Undone undone;
  undone.note(first);
  return !undone.obstacle_to(second).empty();
}

TEST(Undone, a_rule_waits_for_every_route_of_its_table_and_for_no_other) {
  const Add<state::Route> missing{route("192.0.2.0/24 dev eth0 table 7 proto 183")};
  EXPECT_TRUE(waits(missing, add_rule("500: from 10.0.0.7 lookup 7 proto 183")));
  EXPECT_FALSE(waits(missing, add_rule("500: from 10.0.0.7 lookup 8 proto 183")));
  EXPECT_FALSE(waits(missing, add_rule("500: from 10.0.0.7 blackhole proto 183")));
  const Add<state::Route> other_family{route("2001:db8::/32 dev eth0 table 7 proto 183", Family::v6)};
  EXPECT_FALSE(waits(other_family, add_rule("500: from 10.0.0.7 lookup 7 proto 183")));
  const Add<state::Route> in_main{route("192.0.2.0/24 dev eth0 proto 183")};
  EXPECT_FALSE(waits(in_main, add_rule("500: from all lookup main suppress_prefixlength 0 proto 183")));
}

TEST(Undone, a_route_under_a_rule_that_stayed_stays) {
  const auto stayed = remove_rule("500: from 10.0.0.7 lookup 7 proto 183");
  EXPECT_TRUE(waits(stayed, Remove<state::Route>{route("default dev eth0 table 7 proto 183")}));
  EXPECT_TRUE(waits(RemoveOpaqueRule{{.table = 7}}, Remove<state::Route>{route("default dev eth0 table 7 proto 183")}));
  EXPECT_FALSE(waits(stayed, Remove<state::Route>{route("default dev eth0 table 8 proto 183")}));
}

TEST(Undone, a_rule_stays_while_the_one_in_its_place_waits) {
  const auto awaited = add_rule("500: from 10.0.0.7 lookup 8 proto 183");
  EXPECT_TRUE(waits(awaited, remove_rule("500: from 10.0.0.7 lookup 7 proto 183")));
  EXPECT_FALSE(waits(awaited, remove_rule("500: from 10.0.0.9 lookup 7 proto 183")));
}

TEST(Undone, nexthops_come_before_what_is_over_them_and_go_after_it) {
  const Add<state::Nexthop> missing{nexthop("id 5 via 10.0.0.1 dev eth0 proto 183")};
  EXPECT_TRUE(waits(missing, Add<state::Nexthop>{nexthop("id 6 group 5/7 proto 183")}));
  EXPECT_TRUE(waits(missing, Add<state::Route>{route("default nhid 5 table 7 proto 183")}));
  EXPECT_FALSE(waits(missing, Add<state::Route>{route("default nhid 6 table 7 proto 183")}));
  const Remove<state::Route> stayed{route("default nhid 6 table 7 proto 183")};
  EXPECT_TRUE(waits(stayed, Remove<state::Nexthop>{nexthop("id 6 group 5/7 proto 183")}));
  EXPECT_TRUE(waits(Remove<state::Nexthop>{nexthop("id 6 group 5/7 proto 183")},
                    Remove<state::Nexthop>{nexthop("id 5 via 10.0.0.1 dev eth0 proto 183")}));
}

TEST(Undone, a_link_or_address_that_would_take_routes_along_stays_with_them) {
  const Remove<state::Route> stayed{route("default via 10.0.0.1 dev eth0 table 7 proto 183")};
  const Remove<state::InterfaceAddress> address{state::parse_address("10.0.0.2/24 dev eth0 proto 183").value()};
  const Remove<state::ObservedLink> link{{.link = state::parse_link("eth0 alias iprule:x type dummy").value()}};
  EXPECT_TRUE(waits(stayed, address));
  EXPECT_TRUE(waits(stayed, link));
  EXPECT_FALSE(waits(Remove<state::Route>{route("default dev eth1 table 7 proto 183")}, link));
}

state::NetState any_state() {
  using rc::gen::element;
  state::NetState out;
  for (const auto* line : {"default dev eth0 table 7 proto 183", "192.0.2.0/24 dev eth0 table 7 proto 183",
                           "default dev eth1 table 8 proto 183"}) {
    if (*element(true, false)) out.routes.push_back(route(line));
  }
  for (const auto* line : {"500: from 10.0.0.7 lookup 7 proto 183", "500: from 10.0.0.7 lookup 8 proto 183",
                           "501: from 10.0.0.8 lookup 7 proto 183"}) {
    if (*element(true, false)) out.rules.push_back(state::parse_rule(Family::v4, line).value());
  }
  return out;
}

// Whichever operations the kernel refuses: a rule comes only when all routes of its table have come, and a route goes
// only when all rules over its table have gone.
RC_GTEST_PROP(UndoneLaw, G10_S8_no_rule_is_left_over_routes_that_are_not_there, ()) {
  const Plan plan = diff(state::Verified{any_state()}, any_state(), {});
  Undone undone;
  RouteTables incomplete;
  RouteTables looked_up;
  for (const Op& op : plan.ops) {
    const auto* const added = std::get_if<AddRule>(&op);
    const auto* const removed = std::get_if<RemoveRule>(&op);
    const auto* const route_added = std::get_if<Add<state::Route>>(&op);
    const auto* const route_removed = std::get_if<Remove<state::Route>>(&op);
    const bool is_done = undone.obstacle_to(op).empty() && *rc::gen::element(true, true, false);
    if (!is_done) undone.note(op);
    if (!is_done && route_added != nullptr) incomplete.insert(table_of(route_added->object));
    if (!is_done && removed != nullptr) looked_up.insert(*ground_of(removed->rule));
    if (is_done && added != nullptr) RC_ASSERT(!incomplete.contains(*ground_of(added->rule)));
    if (is_done && route_removed != nullptr) RC_ASSERT(!looked_up.contains(table_of(route_removed->object)));
  }
}

}  // namespace
}  // namespace plan
