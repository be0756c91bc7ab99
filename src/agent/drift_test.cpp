#include "agent/drift.h"

#include <gtest/gtest.h>

namespace agent {
namespace {

using namespace std::chrono_literals;

TEST(Drift, D30_more_than_five_repairs_in_a_minute_are_often) {
  Drift drift;
  const base::TimePoint start{1h};
  for (int i = 0; i < 5; ++i) drift.note_repair(start + i * 10s);
  EXPECT_FALSE(drift.often(start + 50s));
  drift.note_repair(start + 50s);
  EXPECT_EQ(drift.often(start + 50s), 6U);
  EXPECT_FALSE(drift.often(start + 61s)) << "the first is forgotten";
  EXPECT_NE(Drift::advice().find("ManageForeignRoutingPolicyRules=no"), std::string::npos);
}

TEST(Drift, a_storm_does_not_fill_the_memory_of_it) {
  Drift drift;
  base::TimePoint now{1h};
  for (int i = 0; i < 100'000; ++i) drift.note_repair(now += 1s);
  EXPECT_EQ(drift.often(now), 60U);
}

}  // namespace
}  // namespace agent
