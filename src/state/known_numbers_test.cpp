#include "state/known_numbers.h"

#include <gtest/gtest.h>

namespace state {
namespace {

using Kind = KnownNumber::Kind;

TEST(KnownNumbers, each_says_who_and_what_and_is_a_number_or_a_range) {
  for (const KnownNumber& known : known_numbers()) {
    EXPECT_LE(known.first, known.last) << known.what;
    EXPECT_FALSE(known.who.empty()) << known.first;
    EXPECT_FALSE(known.what.empty()) << known.first;
    if (known.kind == Kind::mark) {
      EXPECT_EQ(known.first, known.last) << "bits have no range: " << known.what;
    }
  }
}

TEST(KnownNumbers, who_uses_what_is_found) {
  EXPECT_TRUE(uses(kCilium, Kind::priority, 110));
  EXPECT_TRUE(uses(kCilium, Kind::table, 2005));
  EXPECT_FALSE(uses(kCilium, Kind::table, 110));
  EXPECT_FALSE(uses("strongSwan", Kind::priority, 100));
}

}  // namespace
}  // namespace state
