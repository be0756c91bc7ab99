#include "agent/damped_labels.h"

#include <gtest/gtest.h>

namespace agent {
namespace {

using namespace std::chrono_literals;

const meta::Labels kHere{{"zone", "a"}};
const meta::Labels kThere{{"zone", "b"}};

TEST(DampedLabels, E3_a_change_counts_at_once_and_the_next_one_a_moment_later) {
  DampedLabels labels;
  const base::TimePoint start(1h);
  EXPECT_EQ(labels.note(kHere, start), kHere);
  EXPECT_EQ(labels.note(kThere, start + 1ms), kThere);
  EXPECT_FALSE(labels.next_due());
  EXPECT_EQ(labels.note(kHere, start + 2ms), kThere);
  EXPECT_EQ(labels.next_due(), start + 1ms + DampedLabels::kPause);
  EXPECT_EQ(labels.note(kHere, start + 1ms + DampedLabels::kPause), kHere) << "what it has come to";
  EXPECT_FALSE(labels.next_due());
}

TEST(DampedLabels, E3_ten_changes_in_a_second_are_at_most_one_and_none_is_left_waiting) {
  DampedLabels labels;
  base::TimePoint now(1h);
  meta::Labels last = labels.note(kHere, now);
  int changes = 0;
  for (int i = 0; i < 100; ++i, now += 100ms) {
    const meta::Labels& present = labels.note(i % 2 == 0 ? kThere : kHere, now);
    if (present != last) ++changes;
    last = present;
  }
  EXPECT_LE(changes, 10);
  EXPECT_EQ(labels.note(kHere, now + DampedLabels::kPause), kHere);
}

}  // namespace
}  // namespace agent
