#include "dataplane/mark_class.h"

#include <gtest/gtest.h>

#include "dataplane/steering.h"

namespace dataplane {
namespace {

using state::NftClassKind;

constexpr std::uint8_t kOurs = 183;

const ClassKey kSource{.path = {{500, 100}, {600, 101}}};
const ClassKey kReply{.kind = NftClassKind::reply, .guard = 549, .path = {{550, 200}, {600, 201}}};

std::vector<std::string> rule_texts(const std::vector<state::Rule>& rules) {
  std::vector<std::string> out;
  for (const auto& rule : rules) out.push_back(state::text(rule));
  return out;
}

std::vector<state::Rule> rules_of(const ClassKey& key, std::uint32_t mark) {
  return class_rules(key, {.value = mark, .mask = kWindow}, net::Family::v4, kOurs);
}

TEST(MarkClass, has_one_rule_for_each_lookup_and_asks_main_first) {
  EXPECT_EQ(rule_texts(rules_of(kReply, 0x100)),
            (std::vector<std::string>{
                "549: from all fwmark 0x100/0x3f00 lookup main suppress_prefixlength 0 proto 183",
                "550: from all fwmark 0x100/0x3f00 lookup 200 proto 183",
                "600: from all fwmark 0x100/0x3f00 lookup 201 proto 183",
            }));
}

TEST(MarkClass, packet_of_both_takes_both_paths_by_priority_and_the_reply_first_at_a_tie) {
  EXPECT_EQ(
      join(kSource, kReply),
      (ClassKey{.kind = NftClassKind::both, .guard = 549, .path = {{500, 100}, {550, 200}, {600, 201}, {600, 101}}}));
}

TEST(MarkClass, lookup_that_both_paths_share_is_made_once) {
  const ClassKey source{.path = {{550, 200}}};
  EXPECT_EQ(join(source, kReply).path, kReply.path);
}

TEST(MarkClass, classes_are_read_back_from_rules_and_chains) {
  auto rules = rules_of(kSource, 0x100);
  std::ranges::copy(rules_of(kReply, 0x200), std::back_inserter(rules));
  const state::NftTable table{
      .window = kWindow, .classes = {{0x100, {.kind = NftClassKind::source}}, {0x200, {.kind = NftClassKind::reply}}}};
  const Marks marks = read_back(rules, table, kWindow, kOurs);
  EXPECT_EQ(marks.held, (std::map<ClassKey, std::uint32_t>{{kSource, 0x100}, {kReply, 0x200}}));
  EXPECT_EQ(marks.in_use, (std::set<std::uint32_t>{0x100, 0x200}));
}

TEST(MarkClass, mark_with_rules_cut_short_is_in_use_and_held_by_none) {
  auto rules = rules_of(kSource, 0x100);
  std::ranges::copy(class_rules(kSource, {.value = 0x100, .mask = kWindow}, net::Family::v6, kOurs),
                    std::back_inserter(rules));
  rules.pop_back();
  const state::NftTable table{.window = kWindow, .classes = {{0x100, {}}}};
  const Marks marks = read_back(rules, table, kWindow, kOurs);
  EXPECT_TRUE(marks.held.empty());
  EXPECT_EQ(marks.in_use, std::set<std::uint32_t>{0x100});
}

TEST(MarkClass, rules_without_a_chain_and_chains_without_rules_keep_a_mark_from_others) {
  EXPECT_EQ(read_back(rules_of(kSource, 0x300), std::nullopt, kWindow, kOurs), (Marks{.in_use = {0x300}}));
  const state::NftTable table{.window = kWindow, .classes = {{0x400, {}}}};
  EXPECT_EQ(read_back({}, table, kWindow, kOurs), (Marks{.in_use = {0x400}, .unremembered = {{0x400, {}}}}));
}

TEST(MarkClass, what_is_remembered_is_not_read_again) {
  const state::NftTable table{.window = kWindow, .classes = {{0x100, {}}}};
  EXPECT_EQ(read_back(rules_of(kSource, 0x100), table, kWindow, kOurs, {0x100}), (Marks{.in_use = {0x100}}));
}

TEST(MarkClass, rules_of_others_are_not_ours_to_read) {
  auto rules = rules_of(kSource, 0x100);
  for (auto& rule : rules) rule.protocol = 4;
  EXPECT_EQ(read_back(rules, std::nullopt, kWindow, kOurs), Marks{});
}

}  // namespace
}  // namespace dataplane
