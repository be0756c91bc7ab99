#include "kube/authorize.h"

#include <gtest/gtest.h>

namespace kube {
namespace {

using namespace std::chrono_literals;

constexpr base::TimePoint kStart(1h);

TEST(VerdictCache, remembers_for_a_minute) {
  VerdictCache cache;
  EXPECT_FALSE(cache.find("a", kStart));
  cache.put("a", Verdict::allowed, kStart);
  EXPECT_EQ(cache.find("a", kStart + 59s), Verdict::allowed);
  EXPECT_FALSE(cache.find("a", kStart + 60s));
  cache.put("a", Verdict::forbidden, kStart + 60s);
  EXPECT_EQ(cache.find("a", kStart + 61s), Verdict::forbidden);
}

TEST(VerdictCache, never_holds_more_than_its_number) {
  VerdictCache cache(1min, 3);
  cache.put("old", Verdict::allowed, kStart);
  cache.put("b", Verdict::allowed, kStart + 30s);
  cache.put("c", Verdict::allowed, kStart + 30s);
  cache.put("d", Verdict::allowed, kStart + 61s);  // The old one makes room.
  EXPECT_TRUE(cache.find("b", kStart + 61s));
  cache.put("e", Verdict::allowed, kStart + 61s);  // Nobody is old: all go.
  EXPECT_FALSE(cache.find("b", kStart + 61s));
  EXPECT_TRUE(cache.find("e", kStart + 61s));
}

}  // namespace
}  // namespace kube
