#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/process.h"

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Lab, shows_the_wrong_uplink_and_the_right_one_with_counted_packets) {
  const auto done = testbed::run({.arguments = {IPRULECTL, "lab"}}, 120s);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->exit.code, 0) << done->errors;
  EXPECT_THAT(done->output,
              HasSubstr("no rule                         eth1 40        eth0 40           wrong uplink\n"));
  EXPECT_THAT(done->output,
              HasSubstr("IPRule public-eu, ClusterIP     eth1 40        eth0 40           wrong uplink: "));
  EXPECT_THAT(done->output, HasSubstr("IPRule public-eu, Reply         eth1 40        eth1 40           right\n"));
  EXPECT_THAT(done->output, HasSubstr("agent killed                    eth1 40        eth1 40           right: "));
  EXPECT_THAT(done->output,
              HasSubstr("nftables flushed by somebody    eth1 40        eth1 40           right: repaired"));
  EXPECT_THAT(done->output, HasSubstr("5000 more Services"));
}

TEST(Lab, one_scenario_can_be_chosen_and_all_are_listed) {
  const auto list = testbed::run({.arguments = {IPRULECTL, "lab", "--list"}}, 20s);
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_THAT(list->output, HasSubstr("faults"));
  const auto done = testbed::run({.arguments = {IPRULECTL, "lab", "--scenario", "faults"}}, 120s);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->exit.code, 0) << done->errors;
  EXPECT_THAT(done->output, HasSubstr("eth1 lost and back"));
  EXPECT_THAT(done->output, testing::Not(HasSubstr("no rule")));
  const auto wrong = testbed::run({.arguments = {IPRULECTL, "lab", "--scenario", "nothing"}}, 20s);
  ASSERT_TRUE(wrong) << wrong.error().message();
  EXPECT_EQ(wrong->exit.code, 2);
}

}  // namespace
