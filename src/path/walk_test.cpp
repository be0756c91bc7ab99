#include "path/walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace path {
namespace {

using testing::ElementsAre;

net::Address address(std::string_view text) {
  return net::Address::parse(text).value();
}
net::InterfaceName device(std::string_view name) {
  return net::InterfaceName::parse(name).value();
}

class WalkTest : public testing::Test {
 protected:
  WalkTest() {
    rule("0: from all lookup local proto kernel");
    for (const auto* name : {"lo", "cni0", "eth0", "eth1"}) link(name, true);
    route("default via 10.0.0.1 dev eth0");
    route("10.0.0.0/24 dev eth0");
  }

  void link(std::string_view name, bool up) {
    state_.observed_links.push_back({.link = {.name = device(name), .up = up}});
  }
  void rule(std::string_view text) { state_.rules.push_back(state::parse_rule(net::Family::v4, text).value()); }
  void route(std::string_view text) {
    state::Route parsed = state::parse_route(net::Family::v4, text).value();
    if (parsed.table == 0) parsed.table = state::kTableMain;
    state_.routes.push_back(parsed);
  }
  Walk from_pod() {
    if (state_.rules.back().priority != 32766) rule("32766: from all lookup main proto kernel");
    return walk(state_, {.from = address("10.244.1.7"), .to = address("198.18.7.9"), .iif = device("cni0")});
  }
  std::vector<Step::Effect> effects(const Walk& walk) {
    std::vector<Step::Effect> out;
    for (const Step& step : walk.steps) out.push_back(step.effect);
    return out;
  }

  state::NetState state_;
};

TEST_F(WalkTest, the_first_rule_whose_table_has_a_route_decides) {
  rule("999: from 10.96.23.17 lookup 100 proto 183");
  rule("1000: from 10.244.1.7 lookup 100 proto 183");
  route("default via 198.51.100.1 dev eth1 table 100");
  const Walk walk = from_pod();
  EXPECT_EQ(text(walk.verdict), "leaves by eth1 via 198.51.100.1");
  EXPECT_EQ(walk.verdict.table, 100U);
  EXPECT_THAT(effects(walk), ElementsAre(Step::Effect::no_route, Step::Effect::not_matched, Step::Effect::decided));
  EXPECT_EQ(mismatch(state_.rules[1], {.from = address("10.244.1.7"), .to = address("198.18.7.9")}, state_),
            "source is 10.244.1.7");
}

TEST_F(WalkTest, an_empty_table_falls_through) {
  rule("1000: from all lookup 100");
  EXPECT_EQ(text(from_pod().verdict), "leaves by eth0 via 10.0.0.1");
}

TEST_F(WalkTest, a_suppressed_default_does_not_count_but_a_longer_route_does) {
  rule("999: from all lookup main suppress_prefixlength 0");
  rule("1000: from all lookup 100");
  route("default via 198.51.100.1 dev eth1 table 100");
  EXPECT_EQ(text(from_pod().verdict), "leaves by eth1 via 198.51.100.1");
  route("198.18.0.0/15 via 10.0.0.9 dev eth0");
  EXPECT_EQ(text(from_pod().verdict), "leaves by eth0 via 10.0.0.9");
}

TEST_F(WalkTest, throw_goes_on_and_blackhole_does_not) {
  rule("1000: from all lookup 100");
  route("throw default table 100");
  EXPECT_EQ(text(from_pod().verdict), "leaves by eth0 via 10.0.0.1");
  state_.routes.back().type = state::RouteType::blackhole;
  EXPECT_EQ(text(from_pod().verdict), "is dropped without a word (blackhole)");
}

TEST_F(WalkTest, a_jump_leaves_rules_out_and_never_goes_back) {
  rule("100: from all goto 2000");
  rule("1000: from all blackhole");
  rule("2000: from all goto 100");
  EXPECT_THAT(effects(from_pod()), ElementsAre(Step::Effect::no_route, Step::Effect::jumped, Step::Effect::jump_is_lost,
                                               Step::Effect::decided));
}

TEST_F(WalkTest, a_way_out_that_is_down_is_none) {
  link("eth2", false);
  route("198.18.0.0/15 dev eth2");
  EXPECT_EQ(text(from_pod().verdict), "leaves by eth0 via 10.0.0.1");
}

TEST_F(WalkTest, of_several_ways_out_any_may_be_taken) {
  route("198.18.0.0/15 nexthop via 10.0.0.2 dev eth0 weight 1 nexthop via 198.51.100.1 dev eth1 weight 1");
  const Verdict verdict = from_pod().verdict;
  EXPECT_EQ(text(verdict), "leaves by eth0 via 10.0.0.2 or eth1 via 198.51.100.1");
  const Verdict second{.kind = Verdict::Kind::leaves, .hops = {verdict.hops[1]}};
  EXPECT_TRUE(agree(verdict, second));
  EXPECT_FALSE(agree(verdict, {.kind = Verdict::Kind::leaves, .hops = {{.dev = device("eth1")}}}));
}

TEST_F(WalkTest, what_is_not_understood_on_the_way_is_a_doubt) {
  state_.opaque_rules.push_back({.priority = 500, .table = 7, .reason = "tun_id 7"});
  EXPECT_EQ(from_pod().doubts.size(), 1U);
  state_.opaque_rules[0].priority = 40000;
  EXPECT_TRUE(from_pod().doubts.empty()) << "the walk has ended before it";
}

TEST_F(WalkTest, a_packet_of_this_host_comes_from_lo_and_may_have_no_source_yet) {
  rule("1000: from all iif lo lookup 100");
  route("default via 198.51.100.1 dev eth1 table 100");
  EXPECT_EQ(text(walk(state_, {.to = address("198.18.7.9")}).verdict), "leaves by eth1 via 198.51.100.1");
  EXPECT_EQ(text(from_pod().verdict), "leaves by eth0 via 10.0.0.1");
}

}  // namespace
}  // namespace path
