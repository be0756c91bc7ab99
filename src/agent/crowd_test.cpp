#include "agent/crowd.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace agent {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kNodes = 10'000;

TEST(Crowd, E6_a_small_cluster_and_a_restarted_agent_wait_for_nobody) {
  for (const std::size_t prefixes : {0U, 3U, 150U}) {
    EXPECT_FALSE(is_crowd(prefixes)) << prefixes;
    EXPECT_EQ(boot_delay("worker-1", prefixes, 10s), 0s) << prefixes;
  }
  EXPECT_TRUE(is_crowd(151));
  EXPECT_EQ(boot_delay("worker-1", 3 * kNodes, 1h), 0s) << "a node that has been there does not come with a crowd";
}

TEST(Crowd, E6_ten_thousand_nodes_that_boot_together_come_evenly_one_after_another) {
  std::map<std::chrono::seconds, std::size_t> arrivals;
  for (std::size_t i = 0; i < kNodes; ++i) {
    const auto delay = boot_delay(fmt::format("node-{}", i), 3 * kNodes, 30s);
    ASSERT_GE(delay, 0s);
    ASSERT_LT(delay, 20s);
    ++arrivals[std::chrono::floor<std::chrono::seconds>(delay)];
  }
  ASSERT_EQ(arrivals.size(), 20U);
  for (const auto& [second, count] : arrivals) {
    EXPECT_NEAR(static_cast<double>(count), kNodes / 20.0, kNodes / 100.0) << second.count();
  }
}

TEST(Crowd, E6_a_name_always_waits_alike_and_fewer_nodes_wait_less) {
  EXPECT_EQ(boot_delay("node-7", 3 * kNodes, 1s), boot_delay("node-7", 3 * kNodes, 4min));
  EXPECT_NE(boot_delay("node-7", 3 * kNodes, 1s), boot_delay("node-8", 3 * kNodes, 1s));
  for (int i = 0; i < 1000; ++i) EXPECT_LT(boot_delay(fmt::format("node-{}", i), 300, 1s), 200ms);
}

}  // namespace
}  // namespace agent
