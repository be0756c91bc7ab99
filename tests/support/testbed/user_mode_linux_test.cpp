#include "testbed/user_mode_linux.h"

#include <chrono>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/machine.h"

namespace testbed {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr auto kBound = 300s;

class UserModeLinux : public testing::Test {
 protected:
  void SetUp() override { SKIP_UNLESS_MACHINE_HAS("user-mode-linux"); }

  static Finished run(const std::vector<std::string>& arguments) {
    auto done = run_in_user_mode_linux(arguments, kBound);
    EXPECT_TRUE(done) << done.error().message();
    return done ? *std::move(done) : Finished{};
  }
};

TEST_F(UserModeLinux, has_the_links_that_a_machine_may_lack) {
  const Finished done = run({"sh", "-ec",
                             "ip link add d0 type dummy; ip link add link d0 name d0.5 type vlan id 5;"
                             "ip link add red type vrf table 7; ip link add bond5 type bond; ip -br link"});
  EXPECT_TRUE(done.exit.ok()) << done.output << done.errors;
  for (const char* link : {"d0 ", "d0.5@d0 ", "red ", "bond5 "}) EXPECT_THAT(done.output, HasSubstr(link));
}

TEST_F(UserModeLinux, runs_test_programs_and_says_how_they_ended) {
  const Finished good = run({WORLD_TEST, "--gtest_filter=WorldTest.a_switch_*:SceneTest.replies_*"});
  EXPECT_TRUE(good.exit.ok()) << good.output;
  EXPECT_THAT(good.output, HasSubstr("[  PASSED  ] 2 tests."));
  EXPECT_EQ(run({"sh", "-c", "exit 7"}).exit.code, 7);
}

TEST_F(UserModeLinux, can_write_nothing_outside_its_folder) {
  const std::filesystem::path here = std::filesystem::path(WORLD_TEST).parent_path() / "from-guest";
  const Finished done = run({"touch", here});
  EXPECT_THAT(done.output, HasSubstr("Read-only file system"));
  EXPECT_FALSE(std::filesystem::exists(here));
}

TEST_F(UserModeLinux, a_guest_that_hangs_is_given_up) {
  const auto done = run_in_user_mode_linux({"sleep", "600"}, 5s);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().fault(), base::Fault::timeout);
}

}  // namespace
}  // namespace testbed
