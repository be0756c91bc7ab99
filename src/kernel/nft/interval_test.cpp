#include "kernel/nft/interval.h"

#include <algorithm>
#include <span>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "state/nft_table.h"

namespace kernel::nft {
namespace {

Key key(std::string_view address) {
  Key out{};
  const auto parsed = net::Address::parse(address).value();
  std::ranges::copy(parsed.bytes(), out.begin());
  return out;
}

std::optional<Key> behind(std::string_view prefix) {
  return key_behind(net::Prefix::parse(prefix).value());
}

TEST(NftInterval, next_address_behind_a_prefix) {
  EXPECT_EQ(behind("10.0.0.7/32"), key("10.0.0.8"));
  EXPECT_EQ(behind("10.0.255.0/24"), key("10.1.0.0"));
  EXPECT_EQ(behind("10.240.0.0/12"), key("11.0.0.0"));
  EXPECT_EQ(behind("fd00::/8"), key("fe00::"));
  EXPECT_EQ(behind("255.255.255.255/32"), std::nullopt);
  EXPECT_EQ(behind("128.0.0.0/1"), std::nullopt);
  EXPECT_EQ(behind("0.0.0.0/0"), std::nullopt);
}

TEST(NftInterval, what_nft_adds_in_front_says_nothing) {
  EXPECT_EQ(prefixes_of({{key("0.0.0.0"), true}, {key("10.0.0.0"), false}, {key("11.0.0.0"), true}}, net::Family::v4),
            std::set{net::Prefix::parse("10.0.0.0/8").value()});
}

TEST(NftInterval, ends_of_no_prefix_are_refused) {
  const auto refused = [](std::vector<IntervalEnd> ends) { return !prefixes_of(std::move(ends), net::Family::v4); };
  EXPECT_TRUE(refused({{key("10.0.0.0"), false}, {key("10.0.0.3"), true}}));
  EXPECT_TRUE(refused({{key("10.0.0.2"), false}, {key("10.0.0.6"), true}}));
  EXPECT_TRUE(refused({{key("10.0.0.2"), false}, {key("10.0.0.3"), false}, {key("10.0.0.4"), true}}));
  EXPECT_TRUE(refused({{key("10.0.0.2"), false}}));
}

RC_GTEST_PROP(NftInterval, prefixes_are_found_again_from_their_ends, ()) {
  std::set<net::Prefix> some;
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
    const std::array bytes = {static_cast<std::byte>(*rc::gen::inRange(0, 256)),
                              static_cast<std::byte>(*rc::gen::inRange(0, 256)), std::byte{},
                              static_cast<std::byte>(*rc::gen::element(0, 1, 255))};
    some.insert(net::Prefix(net::Address::from_bytes(bytes).value(), *rc::gen::inRange(0, 33)));
  }
  some = state::without_overlaps(some);
  std::vector<IntervalEnd> ends;
  for (const net::Prefix& prefix : some) {
    IntervalEnd first;
    std::ranges::copy(prefix.address().bytes(), first.key.begin());
    ends.push_back(first);
    if (const auto end = key_behind(prefix)) ends.push_back({*end, true});
  }
  std::ranges::reverse(ends);
  RC_ASSERT(prefixes_of(ends, net::Family::v4).value() == some);
}

}  // namespace
}  // namespace kernel::nft
