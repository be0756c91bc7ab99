#include "state/nft_table.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace state {
namespace {

net::Address ip(std::string_view text) {
  return net::Address::parse(text).value();
}
net::Prefix prefix(std::string_view text) {
  return net::Prefix::parse(text).value();
}

NftTable valid_table() {
  using enum NftClassKind;
  return {.window = 0x3f00,
          .classes = {{0x100, {.kind = source, .joins = {{0x200, 0x300}}}},
                      {0x200, {.kind = reply}},
                      {0x300, {.kind = both}}},
          .sources = {{ip("10.0.0.1"), 0x100}},
          .vips = {{ip("203.0.113.1"), 0x200}},
          .own = {prefix("10.244.0.0/16")}};
}

TEST(NftTable, chain_is_named_by_kind_and_place) {
  EXPECT_EQ(chain_name(NftClassKind::source, 0x100, 0x3f00), "source01");
  EXPECT_EQ(chain_name(NftClassKind::reply, 0x3f00, 0x3f00), "reply63");
  EXPECT_EQ(chain_name(NftClassKind::both, 0x3000, 0x3000), "both03");
}

TEST(NftTable, every_chain_name_leads_back_and_no_other_does) {
  for (std::uint32_t place = 1; place <= window_size(0x3f00); ++place) {
    const std::uint32_t mark = mark_at(place, 0x3f00);
    const auto parsed = parse_chain_name(chain_name(NftClassKind::reply, mark, 0x3f00), 0x3f00);
    EXPECT_EQ(parsed, std::pair(NftClassKind::reply, mark));
  }
  for (const auto* name :
       {"reply", "reply0", "reply00", "reply1", "reply001", "reply64", "reply01x", "reply-1", "pre", ""}) {
    EXPECT_EQ(parse_chain_name(name, 0x3f00), std::nullopt) << name;
  }
}

TEST(NftTable, what_leads_nowhere_is_refused) {
  EXPECT_TRUE(validate(valid_table()));
  const auto refused = [](auto&& change) {
    NftTable table = valid_table();
    change(table);
    return !validate(table).has_value();
  };
  EXPECT_TRUE(refused([](NftTable& table) { table.window = 0; }));
  EXPECT_TRUE(refused([](NftTable& table) { table.window = 0x3f01; }));
  EXPECT_TRUE(refused([](NftTable& table) { table.classes[0]; }));
  EXPECT_TRUE(refused([](NftTable& table) { table.classes[0x4000]; }));
  EXPECT_TRUE(refused([](NftTable& table) { table.sources[ip("10.0.0.2")] = 0x200; }));
  EXPECT_TRUE(refused([](NftTable& table) { table.vips[ip("10.0.0.2")] = 0x400; }));
  EXPECT_TRUE(refused([](NftTable& table) { table.classes[0x100].joins[0x200] = 0x100; }));
  EXPECT_TRUE(refused([](NftTable& table) { table.classes[0x200].joins[0x200] = 0x300; }));
  EXPECT_TRUE(refused([](NftTable& table) { table.own.insert(prefix("10.244.1.0/24")); }));
}

RC_GTEST_PROP(NftTable, prefixes_without_overlaps_hold_the_same_addresses, ()) {
  std::set<net::Prefix> all;
  for (int count = *rc::gen::inRange(0, 8); count > 0; --count) {
    const std::vector<std::uint8_t> raw =
        *rc::gen::container<std::vector<std::uint8_t>>(4, rc::gen::element<std::uint8_t>(0, 128, 255));
    all.insert({net::Address::from_bytes(std::as_bytes(std::span(raw))).value(), *rc::gen::inRange(0, 33)});
  }
  const auto kept = without_overlaps(all);
  for (const auto& one : kept) {
    RC_ASSERT(all.contains(one));
    for (const auto& other : kept) RC_ASSERT(one == other || !one.overlaps(other));
  }
  for (const auto& one : all) {
    RC_ASSERT(std::ranges::any_of(
        kept, [&](const net::Prefix& wide) { return wide.contains(one.address()) && wide.length() <= one.length(); }));
  }
}

}  // namespace
}  // namespace state
