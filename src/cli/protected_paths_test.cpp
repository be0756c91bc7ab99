#include "cli/protected_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/diff.h"

namespace cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> told(std::string_view rule) {
  const state::NetState desired{.rules = {state::parse_rule(net::Family::v4, rule).value()}};
  return lines_about_node(plan::diff(state::Verified(), desired, {}), {net::Address::parse("10.0.0.11").value()});
}

TEST(ProtectedPaths, rules_for_other_sources_and_for_marks_spare_what_a_node_sends) {
  EXPECT_THAT(told("1000: from 10.96.23.17 lookup 100 proto 183"), IsEmpty());
  EXPECT_THAT(told("1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183"), IsEmpty());
}

TEST(ProtectedPaths, a_rule_that_a_nodes_own_packets_can_meet_is_named) {
  EXPECT_THAT(told("1000: from 10.0.0.11 lookup 100 proto 183"),
              ElementsAre("rule 1000: from 10.0.0.11 lookup 100 proto 183"));
  EXPECT_THAT(told("1000: from 10.0.0.0/8 lookup 100 proto 183"),
              ElementsAre("rule 1000: from 10.0.0.0/8 lookup 100 proto 183"));
  EXPECT_THAT(told("1000: from all lookup 100 proto 183"), ElementsAre("rule 1000: from all lookup 100 proto 183"));
  EXPECT_THAT(told("1000: not from 10.96.23.17 lookup 100 proto 183"),
              ElementsAre("rule 1000: not from 10.96.23.17 lookup 100 proto 183"));
}

TEST(ProtectedPaths, an_element_of_our_table_for_a_nodes_address_is_named) {
  state::NftChange change;
  change.add_vips = {{net::Address::parse("10.0.0.11").value(), 0x100},
                     {net::Address::parse("203.0.113.45").value(), 0x100}};
  plan::Plan plan;
  plan.ops.emplace_back(plan::ChangeNft{.change = std::make_shared<const state::NftChange>(change)});
  EXPECT_THAT(lines_about_node(plan, {net::Address::parse("10.0.0.11").value()}), ElementsAre("element vip 10.0.0.11"));
}

}  // namespace
}  // namespace cli
