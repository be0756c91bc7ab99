#include "agent/foreign_watch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace agent {
namespace {

using namespace std::chrono_literals;

constexpr base::TimePoint kStart(100s);
constexpr base::Duration kPeriod = 10s;
const ForeignOrder kPrune{.scope = {.sources = {net::Prefix::parse("10.96.0.0/16").value()}, .tables = {100}},
                          .prunes = true};

state::NetState kernel(int rules) {
  state::NetState out;
  for (int i = 0; i < rules; ++i) {
    const auto text = fmt::format("1000: from 10.96.{}.{} lookup 100", i / 250, i % 250);
    out.rules.push_back(state::parse_rule(net::Family::v4, text).value());
  }
  return out;
}

TEST(ForeignWatch, a_rule_goes_when_it_was_there_a_period_ago_and_is_there_now) {
  ForeignWatch watch(kPeriod);
  EXPECT_TRUE(watch.due(kPrune, kernel(1), {}, kStart).empty());
  EXPECT_EQ(watch.next_due(), kStart + kPeriod);
  EXPECT_TRUE(watch.due(kPrune, kernel(1), {}, kStart + 9s).empty());
  EXPECT_EQ(watch.due(kPrune, kernel(1), {}, kStart + kPeriod), kernel(1).rules);
}

TEST(ForeignWatch, one_that_went_meanwhile_begins_anew) {
  ForeignWatch watch(kPeriod);
  (void)watch.due(kPrune, kernel(1), {}, kStart);
  (void)watch.due(kPrune, kernel(0), {}, kStart + 5s);
  EXPECT_TRUE(watch.due(kPrune, kernel(1), {}, kStart + kPeriod).empty());
}

TEST(ForeignWatch, without_the_order_to_prune_nothing_goes) {
  ForeignWatch watch(kPeriod);
  ForeignOrder report = kPrune;
  report.prunes = false;
  for (const auto& order : {std::optional<ForeignOrder>(), std::optional(report)}) {
    (void)watch.due(order, kernel(1), {}, kStart);
    EXPECT_TRUE(watch.due(order, kernel(1), {}, kStart + kPeriod).empty());
  }
}

// The kernel takes the first rule that a request fits: the iif of another's, or what we cannot read, is not in it.
TEST(ForeignWatch, S1_one_whose_removal_could_take_another_stays) {
  state::NetState behind_another = kernel(1);
  behind_another.rules.insert(behind_another.rules.begin(),
                              state::parse_rule(net::Family::v4, "1000: from 10.96.0.0 iif eth1 lookup 100").value());
  state::NetState beside_unknown = kernel(1);
  beside_unknown.opaque_rules.push_back({.priority = 1000, .table = 100});
  for (const auto& seen : {behind_another, beside_unknown}) {
    ForeignWatch watch(kPeriod);
    (void)watch.due(kPrune, seen, {}, kStart);
    EXPECT_TRUE(watch.due(kPrune, seen, {}, kStart + kPeriod).empty());
  }
}

TEST(ForeignWatch, many_go_in_steps) {
  ForeignWatch watch(kPeriod);
  (void)watch.due(kPrune, kernel(60), {}, kStart);
  EXPECT_EQ(watch.due(kPrune, kernel(60), {}, kStart + kPeriod).size(), ForeignWatch::kMostAtOnce);
  EXPECT_EQ(watch.next_due(), kStart + kPeriod) << "the rest at once";
}

}  // namespace
}  // namespace agent
