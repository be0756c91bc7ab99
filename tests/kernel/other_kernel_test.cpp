// The tests of this folder under another kernel: an older one, which has the links that the machine's own may lack and
// lacks what the machine's has. Where the two differ, the tests themselves say how, by what the kernel can.
#include <chrono>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/machine.h"
#include "testbed/user_mode_linux.h"

namespace testbed {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

// Not there: what needs two processors to go wrong, or tables of nftables for both families.
constexpr auto* kNotThere = "*F6_*:*S19_*:NodeFacts.the_service_proxy_is_known_by_what_it_leaves";

class OtherKernel : public testing::Test {
 protected:
  void SetUp() override { SKIP_UNLESS_MACHINE_HAS("user-mode-linux"); }

  static bool is_long() { return std::getenv("IPRULE_LONG") != nullptr; }  // NOLINT(concurrency-mt-unsafe)

  // That these tests of the guest's program pass, but for some.
  static void expect_there(const std::string& tests, const std::string& but, const std::string& modules = "") {
    const auto begun = std::chrono::steady_clock::now();
    const auto filter = fmt::format("--gtest_filter={}-{}{}", tests, kNotThere, but);
    const auto load = modules.empty() ? std::string() : "modprobe -d /run -a " + modules + " && ";
    const auto done =
        run_in_user_mode_linux({"sh", "-c", load + "exec \"$0\" \"$1\"", KERNEL_GUEST_TEST, filter}, 1000s);
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_TRUE(done->exit.ok()) << done->output;
    EXPECT_THAT(done->output, HasSubstr("[  PASSED  ]"));
    EXPECT_THAT(done->output, Not(HasSubstr("[  PASSED  ] 0 tests")));
    EXPECT_THAT(done->output, Not(HasSubstr("[  SKIPPED ]"))) << "it has them all";
    const auto at = done->output.rfind("[==========]");
    const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun);
    fmt::print("{} in the guest: {}{:.1f} s with its start\n", tests,
               at == std::string::npos ? "" : done->output.substr(at, done->output.find('\n', at) - at) + " ",
               took.count());
  }
};

TEST_F(OtherKernel, links_are_made_read_kept_and_followed_there) {
  expect_there("LinkCodec.*:LinkEngine.*:Vrf.*", "");
}

TEST_F(OtherKernel, rules_routes_and_sockets_are_there_as_the_contract_says) {
  expect_there("Facts.*:RouteFacts.*:NexthopCodec.*",
               is_long() ? "" : ":Facts.the_model_of_the_rule_list_is_the_kernels");
}

// IPRULE_LONG (.ci/test-long) asks for all of them.
TEST_F(OtherKernel, the_engine_does_the_same_there) {
  const std::string few = "RouteEngine.*:Rules.*:NodeFacts.*";
  expect_there(is_long() ? few + ":RouteFaults.*:Faults.*:Adoption.*:Netlink.*:*Codec.*:Sysctl.*" : few, "");
}

TEST_F(OtherKernel, behind_ipvs_a_reply_takes_the_uplink_that_the_source_mode_can_reach) {
  expect_there("Ipvs.*", "", "ip_vs ip_vs_rr nf_conntrack iptable_mangle xt_conntrack xt_mark");
}

}  // namespace
}  // namespace testbed
