#include <gtest/gtest.h>

#include "dataplane/steering.h"
#include "state/known_numbers.h"

namespace dataplane {
namespace {

using state::KnownNumber;

// Where Cilium is found, the smaller window is taken.
TEST(Window, H2_keeps_out_of_the_bits_that_others_are_known_to_use) {
  for (const KnownNumber& known : state::known_numbers()) {
    if (known.kind != KnownNumber::Kind::mark) continue;
    EXPECT_EQ(kWindowBesideCilium & known.first, 0U) << known.who << " " << known.what;
    if (known.who == state::kCilium) continue;
    EXPECT_EQ(kWindow & known.first, 0U) << known.who << " " << known.what;
  }
}

}  // namespace
}  // namespace dataplane
