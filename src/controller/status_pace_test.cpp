#include "controller/status_pace.h"

#include <gtest/gtest.h>

namespace controller {
namespace {

using namespace std::chrono_literals;

base::TimePoint at(base::Duration time) {
  return base::TimePoint(1h + time);
}

TEST(StatusPace, L9_what_has_to_wait_is_due_five_seconds_after_the_last_write) {
  StatusPace pace;
  pace.begin_pass(at(0s));
  ASSERT_TRUE(pace.is_due("a", false));
  pace.wrote("a");
  EXPECT_EQ(pace.next_due(), std::nullopt) << "nothing waits";

  pace.begin_pass(at(1s));
  EXPECT_FALSE(pace.is_due("a", false));
  EXPECT_EQ(pace.next_due(), at(5s)) << "so that somebody comes back for it";

  pace.begin_pass(at(5s));
  EXPECT_TRUE(pace.is_due("a", false));
  EXPECT_EQ(pace.next_due(), std::nullopt);
}

TEST(StatusPace, news_never_wait) {
  StatusPace pace;
  pace.begin_pass(at(0s));
  pace.wrote("a");
  EXPECT_TRUE(pace.is_due("a", true));
  EXPECT_EQ(pace.next_due(), std::nullopt);
}

TEST(StatusPace, of_several_that_wait_the_first_counts) {
  StatusPace pace;
  pace.begin_pass(at(0s));
  pace.wrote("a");
  pace.begin_pass(at(2s));
  pace.wrote("b");
  pace.begin_pass(at(3s));
  EXPECT_FALSE(pace.is_due("b", false));
  EXPECT_FALSE(pace.is_due("a", false));
  EXPECT_EQ(pace.next_due(), at(5s));

  pace.begin_pass(at(5s));
  EXPECT_TRUE(pace.is_due("a", false));
  pace.wrote("a");
  EXPECT_FALSE(pace.is_due("b", false));
  EXPECT_EQ(pace.next_due(), at(7s));
}

TEST(StatusPace, what_no_longer_wants_to_be_written_is_not_waited_for) {
  StatusPace pace;
  pace.begin_pass(at(0s));
  pace.wrote("a");
  pace.begin_pass(at(1s));
  ASSERT_FALSE(pace.is_due("a", false));
  pace.begin_pass(at(2s));
  EXPECT_EQ(pace.next_due(), std::nullopt);
}

}  // namespace
}  // namespace controller
