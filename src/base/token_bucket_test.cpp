#include "base/token_bucket.h"

#include <vector>

#include <gtest/gtest.h>

namespace base {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart(1h);

TEST(TokenBucket, a_burst_and_then_the_rate) {
  TokenBucket bucket(100ms, 3);
  std::vector<Duration> waits;
  for (int i = 0; i < 5; ++i) waits.push_back(bucket.reserve(kStart) - kStart);
  EXPECT_EQ(waits, (std::vector<Duration>{0ms, 0ms, 0ms, 100ms, 200ms}));
}

TEST(TokenBucket, fills_up_again_but_never_beyond_the_burst) {
  TokenBucket bucket(100ms, 2);
  for (int i = 0; i < 2; ++i) (void)bucket.reserve(kStart);
  EXPECT_EQ(bucket.reserve(kStart + 100ms), kStart + 100ms);
  EXPECT_EQ(bucket.peek(kStart + 100ms), kStart + 200ms);
  const TimePoint later = kStart + 24h;
  EXPECT_EQ(bucket.reserve(later), later);
  EXPECT_EQ(bucket.reserve(later), later);
  EXPECT_EQ(bucket.reserve(later), later + 100ms);
}

}  // namespace
}  // namespace base
