#include "plan/marking.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plan/diff.h"

namespace plan {
namespace {

constexpr std::uint32_t kWindow = 0x3f00;

net::Address ip(std::string_view text) {
  return net::Address::parse(text).value();
}

state::Rule rule(std::string_view text) {
  return state::parse_rule(net::Family::v4, text).value();
}

state::NftTable table_of(std::string_view source) {
  return {.window = kWindow, .classes = {{0x100, {}}}, .sources = {{ip(source), 0x100}}};
}

state::NetState by_rules() {
  return {.rules = {rule("1000: from 10.0.0.7 lookup 100 proto 183")}};
}

state::NetState by_marks() {
  return {.rules = {rule("1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183")}, .nft = table_of("10.0.0.7")};
}

std::string planned(const state::NetState& seen, const state::NetState& desired) {
  return text(diff(state::Verified{seen}, desired, {}));
}

TEST(Marking, a_mark_comes_after_its_rules_and_before_the_rules_it_replaces_go) {
  EXPECT_EQ(planned(by_rules(), by_marks()),
            "add IPv4 rule 1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183\n"
            "create table inet iprule\n"
            "put chain source01 mark 0x100/0x3f00\n"
            "add element src4 10.0.0.7 : goto source01\n"
            "remove IPv4 rule 1000: from 10.0.0.7 lookup 100 proto 183\n");
  EXPECT_EQ(planned(by_marks(), by_rules()),
            "add IPv4 rule 1000: from 10.0.0.7 lookup 100 proto 183\n"
            "delete table inet iprule\n"
            "remove IPv4 rule 1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183\n");
}

TEST(Marking, nothing_is_planned_where_the_table_is_as_wanted) {
  EXPECT_EQ(planned(by_marks(), by_marks()), "");
}

TEST(Marking, a_table_with_something_strange_in_it_is_made_anew) {
  auto seen = by_marks();
  seen.nft_strange = {"chain hello"};
  EXPECT_TRUE(planned(seen, by_marks()).starts_with("replace table inet iprule\n"));
}

TEST(Marking, nothing_goes_while_the_table_is_not_known) {
  auto seen = by_rules();
  seen.nft_unknown = "denied";
  EXPECT_EQ(planned(seen, {}), "");
  EXPECT_EQ(planned(seen, by_marks()),
            "add IPv4 rule 1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183\n"
            "obstacle nft table inet iprule\n  denied\n");
}

TEST(Marking, a_table_that_cannot_be_is_an_obstacle_and_nothing_goes) {
  auto wrong = by_marks();
  wrong.nft->sources[ip("10.0.0.8")] = 0x200;
  EXPECT_EQ(planned(by_rules(), wrong),
            "add IPv4 rule 1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183\n"
            "obstacle nft table inet iprule\n  source 10.0.0.8: 0x200 is no such class\n");
}

TEST(Marking, only_rules_by_which_packets_find_their_way_are_bound_to_the_change) {
  state::NftChange to_marks;
  to_marks.add_sources = {{ip("10.0.0.7"), 0x100}};
  const RemoveRule same{rule("1000: from 10.0.0.7 lookup 100 proto 183")};
  const RemoveRule other{rule("1000: from 10.0.0.8 lookup 100 proto 183")};
  const RemoveRule wide{rule("1000: from 10.0.0.0/24 lookup 100 proto 183")};
  const RemoveRule by_mark{rule("1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183")};
  EXPECT_TRUE(must_wait_for(same, to_marks));
  EXPECT_TRUE(must_wait_for(by_mark, to_marks));
  EXPECT_FALSE(must_wait_for(other, to_marks));
  EXPECT_FALSE(must_wait_for(wide, to_marks));
  EXPECT_FALSE(is_needed_before(AddRule{same.rule}, to_marks));
  EXPECT_TRUE(is_needed_before(AddRule{by_mark.rule}, to_marks));
  state::NftChange to_rules;
  to_rules.remove_sources = to_marks.add_sources;
  EXPECT_TRUE(is_needed_before(AddRule{same.rule}, to_rules));
}

}  // namespace
}  // namespace plan
