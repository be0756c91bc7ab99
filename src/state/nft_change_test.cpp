#include "state/nft_change.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace state {
namespace {

net::Address ip(int number) {
  return net::Address::parse("10.0.0." + std::to_string(number)).value();
}

std::optional<NftTable> arbitrary_table() {
  using enum NftClassKind;
  if (*rc::gen::inRange(0, 6) == 0) return std::nullopt;
  NftTable table{.window = 0x3f00};
  for (std::uint32_t place = 1; place < 7; ++place) {
    if (*rc::gen::arbitrary<bool>()) table.classes[place << 8U].kind = *rc::gen::element(source, reply, both);
  }
  for (auto& [mark, entry] : table.classes) {
    for (int number = 0; number < 6; ++number) {
      if (entry.kind == source) table.sources.emplace(ip(*rc::gen::inRange(0, 9)), mark);
      if (entry.kind == reply) table.vips.emplace(ip(*rc::gen::inRange(0, 9)), mark);
    }
  }
  if (*rc::gen::arbitrary<bool>()) table.own.insert(net::Prefix::host(ip(1)));
  return table;
}

RC_GTEST_PROP(NftChange, nothing_to_do_is_an_empty_change, ()) {
  const auto table = arbitrary_table();
  RC_ASSERT(diff({.table = table}, table).empty());
}

RC_GTEST_PROP(NftChange, pieces_lead_from_any_table_to_any_other, ()) {
  const auto from = arbitrary_table();
  const auto to = arbitrary_table();
  auto table = from;
  for (const auto& piece : split(diff({.table = from}, to), 2)) {
    apply(piece, table);
    if (table) RC_ASSERT(validate(*table).has_value());
  }
  RC_ASSERT(table == to);
}

RC_GTEST_PROP(NftChange, piece_has_each_source_as_it_was_or_as_it_shall_be, ()) {
  const auto from = arbitrary_table();
  const auto to = arbitrary_table();
  RC_PRE(from && to);
  const auto mark_in = [](const NftTable& table, const net::Address& address) {
    const auto found = table.sources.find(address);
    return found == table.sources.end() ? 0 : found->second;
  };
  auto table = from;
  for (const auto& piece : split(diff({.table = from}, to), 1)) {
    apply(piece, table);
    for (int number = 0; number < 9; ++number) {
      const auto now = mark_in(*table, ip(number));
      RC_ASSERT(now == mark_in(*from, ip(number)) || now == mark_in(*to, ip(number)));
    }
  }
}

TEST(NftChange, one_new_source_is_one_element) {
  NftTable have{.window = 0x3f00, .classes = {{0x100, {}}}, .sources = {{ip(1), 0x100}}};
  NftTable want = have;
  want.sources[ip(2)] = 0x100;
  EXPECT_EQ(text(diff({.table = have}, want)), "add element src4 10.0.0.2 : goto source01\n");
  EXPECT_EQ(text(diff({.table = want}, have)), "delete element src4 10.0.0.2 : goto source01\n");
}

TEST(NftChange, whole_table_in_words) {
  const NftTable table{.window = 0x3f00,
                       .classes = {{0x100, {.joins = {{0x200, 0x300}}}},
                                   {0x200, {.kind = NftClassKind::reply}},
                                   {0x300, {.kind = NftClassKind::both}}},
                       .sources = {{ip(1), 0x100}},
                       .vips = {{ip(2), 0x200}},
                       .own = {net::Prefix(ip(0), 8)}};
  EXPECT_EQ(text(diff({}, table)),
            "create table inet iprule\n"
            "put chain source01 mark 0x100/0x3f00 with reply02 both03\n"
            "put chain reply02 mark 0x200/0x3f00\n"
            "put chain both03 mark 0x300/0x3f00\n"
            "add element src4 10.0.0.1 : goto source01\n"
            "add element vip4 10.0.0.2 : goto reply02\n"
            "add element own4 10.0.0.0/8\n");
  EXPECT_EQ(text(diff({.table = table}, std::nullopt)), "delete table inet iprule\n");
}

TEST(NftChange, table_with_anything_strange_in_it_is_replaced_at_once) {
  const NftTable table{.window = 0x3f00, .classes = {{0x100, {}}}, .sources = {{ip(1), 0x100}}};
  const auto change = diff({.table = table, .strange = {"chain mine"}}, table);
  EXPECT_EQ(change.table, NftChange::Table::replace);
  EXPECT_EQ(change.add_sources, table.sources);
  EXPECT_EQ(split(change, 0).size(), 1);
}

}  // namespace
}  // namespace state
