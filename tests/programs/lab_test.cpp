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
  EXPECT_THAT(done->output, HasSubstr("no rule, IPv4                   eth1 20        eth0 20           wrong uplink"));
  EXPECT_THAT(done->output, HasSubstr("no rule, IPv6                   eth1 20        eth0 20           wrong uplink"));
  EXPECT_THAT(done->output, HasSubstr("IPRule public-eu, IPv4          eth1 20        eth1 20           right"));
  EXPECT_THAT(done->output, HasSubstr("IPRule public-eu, IPv6          eth1 20        eth1 20           right"));
}

}  // namespace
