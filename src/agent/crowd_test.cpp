#include "agent/crowd.h"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace agent {
namespace {

using namespace std::chrono_literals;

constexpr std::int32_t kNodes = 10'000;

TEST(Crowd, E6_a_small_cluster_and_a_restarted_agent_wait_for_nobody) {
  for (const std::int32_t nodes : {0, 1, 50}) EXPECT_EQ(boot_delay("worker-1", nodes, 10s), 0s) << nodes;
  EXPECT_EQ(boot_delay("worker-1", kNodes, 1h), 0s) << "a node that has been there does not come with a crowd";
}

TEST(Crowd, E6_ten_thousand_nodes_that_boot_together_come_evenly_one_after_another) {
  std::map<std::chrono::seconds, std::int32_t> arrivals;
  for (std::int32_t i = 0; i < kNodes; ++i) {
    const auto delay = boot_delay(fmt::format("node-{}", i), kNodes, 30s);
    ASSERT_GE(delay, 0s);
    ASSERT_LT(delay, 50s);
    ++arrivals[std::chrono::floor<std::chrono::seconds>(delay)];
  }
  ASSERT_EQ(arrivals.size(), 50U);
  for (const auto& [second, count] : arrivals) EXPECT_NEAR(count, kNodes / 50, kNodes / 150) << second.count();
}

TEST(Crowd, E6_B6_a_name_always_waits_alike_and_fewer_nodes_wait_less) {
  EXPECT_EQ(turn_of("node-7", kNodes), turn_of("node-7", kNodes));
  EXPECT_NE(turn_of("node-7", kNodes), turn_of("node-8", kNodes));
  for (int i = 0; i < 1000; ++i) EXPECT_LT(turn_of(fmt::format("node-{}", i), 100), 100ms);
}

}  // namespace
}  // namespace agent
