#include "lab/world.h"

#include <gtest/gtest.h>

namespace lab {
namespace {

// This program has the plain main: it is not in a sandbox. (Worlds themselves are tested in tests/support.)
TEST(World, outside_the_sandbox_none_is_made) {
  const auto world = World::make();
  ASSERT_FALSE(world);
  EXPECT_EQ(world.error().fault(), base::Fault::denied);
  EXPECT_EQ(world.error().message(), "a world can be made only inside the sandbox");
}

TEST(InterfaceAddress, keeps_the_host_part) {
  const auto address = InterfaceAddress::of("10.0.0.11/24");
  EXPECT_EQ(address.address.text(), "10.0.0.11");
  EXPECT_EQ(address.length, 24);
}

}  // namespace
}  // namespace lab
