#include "kube/storage.h"

#include <gtest/gtest.h>

namespace kube {
namespace {

TEST(Storage, A8_a_fall_ends_the_life_that_it_was_seen_in_and_no_other) {
  Storage storage;
  const auto first = storage.life();
  EXPECT_FALSE(first.stop_requested());
  EXPECT_EQ(storage.life(), first);

  storage.fell_back(first);
  EXPECT_TRUE(first.stop_requested());
  const auto second = storage.life();
  EXPECT_FALSE(second.stop_requested());

  storage.fell_back(first);  // Somebody else has seen the same.
  EXPECT_FALSE(second.stop_requested());
  EXPECT_EQ(storage.life(), second);
}

TEST(Storage, who_hears_of_a_fall_can_ask_for_the_next_life) {
  Storage storage;
  std::stop_token next;
  const std::stop_callback heard(storage.life(), [&] { next = storage.life(); });
  storage.fell_back(storage.life());
  EXPECT_TRUE(next.stop_possible());
  EXPECT_FALSE(next.stop_requested());
}

}  // namespace
}  // namespace kube
