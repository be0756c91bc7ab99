#include "plan/retain.h"

#include <gtest/gtest.h>

#include "plan/diff.h"

namespace plan {
namespace {

net::Address ip(std::string_view text) {
  return net::Address::parse(text).value();
}

state::Rule rule(std::string_view text) {
  return state::parse_rule(net::Family::v4, text).value();
}

TEST(Retain, our_rules_and_marks_stay_wanted_and_foreign_rules_are_not_adopted) {
  const state::NetState seen{
      .rules = {rule("7: from 10.0.0.9 lookup 100 proto static"), rule("8: from 10.0.0.8 lookup 100 proto 183")},
      .nft = state::NftTable{.window = 0x3f00,
                             .classes = {{0x100, {}}, {0x200, {}}},
                             .sources = {{ip("10.0.0.7"), 0x100}, {ip("10.0.0.6"), 0x200}}}};
  const state::NetState desired{
      .rules = {rule("9: from 10.0.0.5 lookup 100 proto 183")},
      .nft = state::NftTable{.window = 0x3f00, .classes = {{0x200, {}}}, .sources = {{ip("10.0.0.7"), 0x200}}}};
  const auto kept = retain(desired, seen, {});
  EXPECT_EQ(text(diff(state::Verified{seen}, kept, {})),
            "add IPv4 rule 9: from 10.0.0.5 lookup 100 proto 183\n"
            "delete element src4 10.0.0.7 : goto source01\n"
            "add element src4 10.0.0.7 : goto source02\n");
}

TEST(Retain, a_table_that_nobody_asks_for_stays) {
  const state::NetState seen{
      .nft = state::NftTable{.window = 0x3f00, .classes = {{0x100, {}}}, .sources = {{ip("10.0.0.7"), 0x100}}}};
  EXPECT_EQ(retain({}, seen, {}).nft, seen.nft);
}

TEST(Retain, what_somebody_else_made_of_our_table_is_no_reason_to_keep_it) {
  state::NetState seen{.nft = state::NftTable{.window = 0x3f00}};
  seen.nft_strange = {"chain hello"};
  EXPECT_FALSE(retain({}, seen, {}).nft);
}

}  // namespace
}  // namespace plan
