#include "agent/audit_pace.h"

#include <set>

#include <gtest/gtest.h>

namespace agent {
namespace {

using namespace std::chrono_literals;

TEST(AuditPace, waits_differ_and_none_is_longer_than_the_period) {
  AuditPace pace(30s, 1);
  std::set<std::chrono::milliseconds> waits;
  for (int i = 0; i < 100; ++i) waits.insert(pace.next());
  EXPECT_GT(waits.size(), 50);
  EXPECT_LE(*waits.rbegin(), 30s);
  EXPECT_GE(*waits.begin(), pace.least());
  EXPECT_EQ(pace.least(), 27s);
}

}  // namespace
}  // namespace agent
