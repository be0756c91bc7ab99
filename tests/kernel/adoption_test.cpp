// Rules that the old project left behind, taken over on a real kernel.
#include "plan/adoption.h"

#include <vector>

#include "kernel/engine.h"
#include "tests/kernel/sandbox.h"

namespace kernel {
namespace {

class Adoption : public Sandbox {
 protected:
  // One pass of a node that wants our rule, or none, and knows that the old project was asked for it.
  void take_over(bool wanted, std::optional<std::uint32_t> priority = 1000) {
    const auto seen = Engine::open({}).value().observe({}).value();
    const std::vector<plan::Heirloom> heirlooms = {
        {.source = net::Address::parse("10.0.0.7").value(), .table = 100, .priority = priority}};
    plan::Ownership ownership;
    ownership.adopted = plan::adopted(heirlooms, state::state_of(seen), ownership);
    state::NetState desired;
    if (wanted) {
      desired.rules = {state::parse_rule(net::Family::v4, "1000: from 10.0.0.7 lookup 100 proto 183").value()};
    }
    const auto report = Engine::open(ownership).value().converge(desired, {});
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_TRUE(report->settled()) << plan::text(report->left);
  }

  static std::string shown() { return run("ip rule | grep 10.0.0.7 || true"); }
};

TEST_F(Adoption, the_old_rule_is_replaced_by_ours) {
  run("ip rule add from 10.0.0.7 lookup 100 priority 1000");
  take_over(true);
  EXPECT_EQ(shown(), "1000:\tfrom 10.0.0.7 lookup 100 proto 183\n");
}

TEST_F(Adoption, without_an_object_that_wants_it_the_old_rule_goes) {
  run("ip rule add from 10.0.0.7 lookup 100 priority 1000");
  take_over(false);
  EXPECT_EQ(shown(), "");
}

TEST_F(Adoption, D27_wherever_the_kernel_had_put_it) {
  run("ip rule add from 10.0.0.7 lookup 100");
  run("ip rule add from 10.0.0.7 lookup 100");
  EXPECT_NE(shown(), "");
  take_over(true, std::nullopt);
  EXPECT_EQ(shown(), "1000:\tfrom 10.0.0.7 lookup 100 proto 183\n");
}

TEST_F(Adoption, D20_rules_of_others_beside_it_stay_wherever_they_stand) {
  run("ip rule add from 10.0.0.7 fwmark 0x1 lookup 100 priority 1000");
  run("ip rule add from 10.0.0.7 lookup 100 priority 1000");
  take_over(true);
  EXPECT_EQ(shown(),
            "1000:\tfrom 10.0.0.7 fwmark 0x1 lookup 100\n1000:\tfrom 10.0.0.7 lookup 100\n"
            "1000:\tfrom 10.0.0.7 lookup 100 proto 183\n")
      << "behind a foreign rule that would go in its place it is left";
  run("ip rule del from 10.0.0.7 fwmark 0x1 lookup 100 priority 1000");
  run("ip rule add from 10.0.0.7 fwmark 0x1 lookup 100 priority 1000");
  take_over(true);
  EXPECT_EQ(shown(), "1000:\tfrom 10.0.0.7 lookup 100 proto 183\n1000:\tfrom 10.0.0.7 fwmark 0x1 lookup 100\n");
}

TEST_F(Adoption, an_old_rule_that_came_after_ours_goes_too) {
  run("ip rule add from 10.0.0.7 lookup 100 priority 1000 protocol 183");
  run("ip rule add from 10.0.0.7 lookup 100 priority 1000");
  take_over(true);
  EXPECT_EQ(shown(), "1000:\tfrom 10.0.0.7 lookup 100 proto 183\n");
}

}  // namespace
}  // namespace kernel
