#include "agent/drift.h"

#include <gtest/gtest.h>

namespace agent {
namespace {

using namespace std::chrono_literals;

constexpr const char* kAdd = "ip rule add from 10.96.0.1 lookup 100";

TEST(Drift, D30_more_than_five_repairs_of_one_thing_in_a_minute_are_often) {
  Drift drift;
  const base::TimePoint start{1h};
  for (int i = 0; i < 5; ++i) drift.note_repair(kAdd, start + i * 10s);
  EXPECT_FALSE(drift.is_often(start + 50s));
  drift.note_repair(kAdd, start + 50s);
  EXPECT_TRUE(drift.is_often(start + 50s));
  EXPECT_FALSE(drift.is_often(start + 61s)) << "the first is forgotten";
  EXPECT_NE(Drift::advice().find("ManageForeignRoutingPolicyRules=no"), std::string::npos);
}

// Somebody who cleans up once, rule after rule, does not fight with us.
TEST(Drift, many_things_once_each_are_not_often) {
  Drift drift;
  const base::TimePoint start{1h};
  for (int i = 0; i < 200; ++i) drift.note_repair("rule " + std::to_string(i), start + i * 10ms);
  EXPECT_FALSE(drift.is_often(start + 2s));
}

TEST(Drift, a_storm_does_not_fill_the_memory_of_it) {
  Drift drift;
  base::TimePoint now{1h};
  for (int i = 0; i < 100'000; ++i) drift.note_repair("rule " + std::to_string(i), now += 100ms);
  EXPECT_LE(drift.remembered(), 2 * 600U);
  for (int i = 0; i < 6; ++i) drift.note_repair(kAdd, now += 1s);
  EXPECT_TRUE(drift.is_often(now));
}

}  // namespace
}  // namespace agent
