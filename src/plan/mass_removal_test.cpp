#include "plan/mass_removal.h"

#include <gtest/gtest.h>

namespace plan {
namespace {

net::Address address(int i) {
  return net::Address::parse("10.0.0." + std::to_string(i)).value();
}

state::NetState rules(int count, std::uint8_t protocol = 183) {
  state::NetState out;
  for (int i = 0; i < count; ++i) {
    out.rules.push_back(
        {.priority = 1000, .selector = {.from = net::Prefix::host(address(i))}, .protocol = protocol, .table = 100});
  }
  return out;
}

TEST(MassRemoval, S16_it_is_more_than_twenty_and_more_than_half) {
  EXPECT_FALSE(is_mass_removal(rules(20), {}, {}));
  EXPECT_TRUE(is_mass_removal(rules(21), {}, {}));
  EXPECT_FALSE(is_mass_removal(rules(60), rules(30), {}));
  EXPECT_TRUE(is_mass_removal(rules(60), rules(29), {}));
  EXPECT_FALSE(is_mass_removal({}, rules(60), {}));
  EXPECT_FALSE(is_mass_removal(rules(60, 4), {}, {})) << "of ours, not of others";
}

TEST(MassRemoval, another_way_to_steer_removes_nothing) {
  state::NetState marks{.nft = state::NftTable{}};
  for (int i = 0; i < 60; ++i) marks.nft->sources[address(i)] = 0x100;
  EXPECT_FALSE(is_mass_removal(rules(60), marks, {}));
  EXPECT_FALSE(is_mass_removal(marks, rules(60), {}));
  EXPECT_TRUE(is_mass_removal(marks, rules(10), {}));
}

}  // namespace
}  // namespace plan
