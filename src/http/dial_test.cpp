#include "http/dial.h"

#include <gtest/gtest.h>

namespace http {
namespace {

using namespace std::chrono_literals;

TEST(Dial, addresses_share_the_patience_and_the_last_has_all_of_it) {
  EXPECT_EQ(share_of(10s, 1), 10s);
  EXPECT_EQ(share_of(10s, 2), 5s);
  EXPECT_EQ(share_of(9s, 3), 3s);
}

TEST(Dial, none_of_many_addresses_is_given_up_at_once) {
  EXPECT_EQ(share_of(10s, 100), 2s);
  EXPECT_EQ(share_of(300ms, 100), 300ms) << "nor has it more than there is";
}

}  // namespace
}  // namespace http
