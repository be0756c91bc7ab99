#include "base/backoff.h"

#include <gtest/gtest.h>

namespace base {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, waits_stay_under_a_doubling_limit_and_its_ceiling) {
  Backoff backoff(800ms, 30s, 7);
  auto limit = 800ms;
  for (int i = 0; i < 20; ++i) {
    const auto wait = backoff.next();
    EXPECT_GE(wait, 0ms);
    EXPECT_LE(wait, limit);
    limit = std::min<std::chrono::milliseconds>(limit * 2, 30s);
  }
  backoff.reset();
  EXPECT_LE(backoff.next(), 800ms);
}

TEST(Backoff, two_clients_do_not_wait_alike) {
  Backoff one(1000s, 1000s, 1);
  Backoff two(1000s, 1000s, 2);
  EXPECT_NE(one.next(), two.next());
}

}  // namespace
}  // namespace base
