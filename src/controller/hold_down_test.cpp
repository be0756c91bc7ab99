#include "controller/hold_down.h"

#include <gtest/gtest.h>

namespace controller {
namespace {

using namespace std::chrono_literals;
using intent::Write;

const base::TimePoint kStart{1000s};

std::vector<Write> withdrawal(bool is_replaced = false) {
  Write write{.step = Write::Step::withdraw, .object = {}, .is_replaced = is_replaced};
  write.object.meta.uid = "u";
  return {write};
}

TEST(HoldDown, D16_an_address_that_returns_within_the_delay_changes_nothing) {
  HoldDown hold(2s);
  auto writes = withdrawal();
  EXPECT_EQ(hold.hold(writes, kStart), kStart + 2s);
  EXPECT_TRUE(writes.empty());

  std::vector<Write> none;  // It is back.
  EXPECT_EQ(hold.hold(none, kStart + 1s), std::nullopt);

  writes = withdrawal();  // And goes again: the delay begins anew.
  EXPECT_EQ(hold.hold(writes, kStart + 2s), kStart + 4s);
  EXPECT_TRUE(writes.empty());
  writes = withdrawal();
  EXPECT_EQ(hold.hold(writes, kStart + 4s), std::nullopt);
  EXPECT_EQ(writes.size(), 1U);
}

TEST(HoldDown, D11_what_is_replaced_goes_at_once) {
  HoldDown hold(2s);
  auto writes = withdrawal(true);
  EXPECT_EQ(hold.hold(writes, kStart), std::nullopt);
  EXPECT_EQ(writes.size(), 1U);
}

}  // namespace
}  // namespace controller
