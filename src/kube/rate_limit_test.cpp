#include "kube/rate_limit.h"

#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace kube {
namespace {

using namespace std::chrono_literals;

constexpr base::TimePoint kFirstRequest{1h};
constexpr base::TimePoint kNever = base::TimePoint::max();

TEST(TokenBucket, a_burst_goes_at_once_and_then_one_by_one) {
  TokenBucket bucket({.rate = 10, .burst = 3});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bucket.reserve(kFirstRequest, kNever), kFirstRequest);
  EXPECT_EQ(bucket.reserve(kFirstRequest, kNever), kFirstRequest + 100ms);
  EXPECT_EQ(bucket.reserve(kFirstRequest, kNever), kFirstRequest + 200ms);
}

TEST(TokenBucket, who_cannot_wait_takes_nothing) {
  TokenBucket bucket({.rate = 1, .burst = 1});
  EXPECT_TRUE(bucket.reserve(kFirstRequest, kNever));
  EXPECT_FALSE(bucket.reserve(kFirstRequest, kFirstRequest + 500ms));
  EXPECT_EQ(bucket.reserve(kFirstRequest, kNever), kFirstRequest + 1s);
}

RC_GTEST_PROP(TokenBucket, no_window_holds_more_than_burst_and_rate_allow, ()) {
  const auto burst = *rc::gen::inRange(1, 20);
  TokenBucket bucket({.rate = 10, .burst = static_cast<double>(burst)});
  std::vector<base::TimePoint> gone;
  base::TimePoint now = kFirstRequest;
  for (int i = 0; i < 60; ++i) {
    now += std::chrono::milliseconds(*rc::gen::inRange(0, 300));
    gone.push_back(*bucket.reserve(now, kNever));
    RC_ASSERT(gone.back() >= now);
  }
  for (std::size_t first = 0; first < gone.size(); ++first) {
    for (std::size_t last = first; last < gone.size(); ++last) {
      const auto allowed =
          burst + std::chrono::floor<std::chrono::milliseconds>(gone[last] - gone[first]).count() / 100;
      RC_ASSERT(static_cast<long>(last - first + 1) <= allowed + 1);
    }
  }
}

}  // namespace
}  // namespace kube
