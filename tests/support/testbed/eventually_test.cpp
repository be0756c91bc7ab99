#include "testbed/eventually.h"

#include <gtest/gtest.h>

namespace testbed {
namespace {

using namespace std::chrono_literals;

TEST(Eventually, a_fact_that_becomes_true_is_seen) {
  int checks = 0;
  EXPECT_TRUE(eventually("third check", 5s, [&] { return ++checks == 3; }));
  EXPECT_EQ(checks, 3);
}

TEST(Eventually, a_fact_that_never_comes_is_named) {
  const auto result = eventually("the moon is green", 10ms, [] { return false; });
  EXPECT_FALSE(result);
  EXPECT_STREQ(result.message(), "not so after 0.01 s: the moon is green");
}

TEST(Eventually, even_without_time_a_fact_is_checked_once) {
  EXPECT_TRUE(eventually("now", 0s, [] { return true; }));
}

}  // namespace
}  // namespace testbed
