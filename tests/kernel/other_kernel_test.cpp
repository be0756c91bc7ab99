// The same test program under another kernel, which has the links that the machine's kernel may lack.
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/machine.h"
#include "testbed/user_mode_linux.h"

namespace testbed {
namespace {

using namespace std::chrono_literals;

TEST(OtherKernel, vlan_vrf_and_bond_are_made_and_read_there) {
  SKIP_UNLESS_MACHINE_HAS("user-mode-linux");
  const auto done = run_in_user_mode_linux({KERNEL_ROUTE_TEST, "--gtest_filter=LinkCodec.*"}, 280s);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_TRUE(done->exit.ok()) << done->output;
  EXPECT_THAT(done->output, testing::HasSubstr("[  PASSED  ]"));
  EXPECT_THAT(done->output, testing::Not(testing::HasSubstr("[  SKIPPED ]"))) << "it has them all";
}

}  // namespace
}  // namespace testbed
