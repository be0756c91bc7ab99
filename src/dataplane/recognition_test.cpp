#include "dataplane/recognition.h"

#include <algorithm>
#include <iterator>

#include <gtest/gtest.h>

namespace dataplane {
namespace {

using state::NftClassKind;

constexpr std::uint8_t kProtocol = 183;
const ClassKey kShort{.path = {{500, 100}}};
const ClassKey kLong{.path = {{500, 100}, {600, 101}}};
const ClassKey kGuarded{.kind = NftClassKind::reply, .guard = 549, .path = {{550, 200}}};

net::Address address(std::string_view text) {
  return *net::Address::parse(text);
}

const Classes kSources = {{kShort, {address("10.0.0.1")}}, {kLong, {address("10.0.0.2"), address("10.0.0.3")}}};
const Classes kReplies = {{kGuarded, {address("192.0.2.1")}}};

// All of it, as it was written.
struct Kernel {
  state::NftTable table{.window = kWindow};
  std::vector<state::Rule> rules{};

  void add(std::uint32_t mark, const ClassKey& key, const Addresses& members) {
    table.classes[mark].kind = key.kind;
    auto& elements = key.kind == NftClassKind::source ? table.sources : table.vips;
    for (const net::Address& member : members) elements.emplace(member, mark);
    std::ranges::copy(class_rules(key, {.value = mark, .mask = kWindow}, net::Family::v4, kProtocol),
                      std::back_inserter(rules));
  }

  std::map<ClassKey, std::uint32_t> holders() const {
    return recognise(read_back(rules, table, kWindow, kProtocol), kSources, kReplies, kWindow, kProtocol).held;
  }
};

Kernel whole() {
  Kernel kernel;
  kernel.add(0x100, kLong, kSources.at(kLong));
  kernel.add(0x200, kShort, kSources.at(kShort));
  kernel.add(0x300, kGuarded, kReplies.at(kGuarded));
  kernel.table.classes[0x100].joins = {{0x300, 0x400}};
  kernel.add(0x400, join(kLong, kGuarded), {});
  return kernel;
}

const std::map<ClassKey, std::uint32_t> kAll = {
    {kLong, 0x100}, {kShort, 0x200}, {kGuarded, 0x300}, {join(kLong, kGuarded), 0x400}};

TEST(Recognition, classes_without_any_rule_are_told_by_their_members_and_joins) {
  Kernel kernel = whole();
  kernel.rules.clear();
  EXPECT_EQ(kernel.holders(), kAll);
}

TEST(Recognition, rules_that_seem_to_spell_another_class_do_not_give_it_the_mark) {
  Kernel kernel = whole();
  std::erase_if(kernel.rules, [](const state::Rule& rule) { return rule.priority == 600 || rule.priority == 549; });
  EXPECT_EQ(kernel.holders(), kAll);
}

TEST(Recognition, mark_whose_members_want_different_paths_now_is_nobodys) {
  Kernel kernel;
  kernel.add(0x100, kLong, {address("10.0.0.1"), address("10.0.0.2")});
  kernel.rules.clear();
  EXPECT_TRUE(kernel.holders().empty());
}

TEST(Recognition, mark_with_a_rule_that_the_class_does_not_want_is_nobodys) {
  Kernel kernel;
  kernel.add(0x100, ClassKey{.path = {{500, 102}}}, kSources.at(kShort));
  EXPECT_FALSE(kernel.holders().contains(kShort));
}

TEST(Recognition, mark_without_members_is_nobodys) {
  Kernel kernel;
  kernel.add(0x100, kShort, {});
  kernel.rules.clear();
  EXPECT_TRUE(kernel.holders().empty());
}

TEST(Recognition, what_is_remembered_stays) {
  Marks marks = read_back(whole().rules, whole().table, kWindow, kProtocol);
  marks.held = {{kShort, 0x500}};
  EXPECT_EQ(recognise(marks, kSources, kReplies, kWindow, kProtocol).held.at(kShort), 0x500U);
}

}  // namespace
}  // namespace dataplane
