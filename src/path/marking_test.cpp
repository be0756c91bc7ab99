#include "path/marking.h"

#include <gtest/gtest.h>

namespace path {
namespace {

net::Address ip(std::string_view text) {
  return net::Address::parse(text).value();
}

class MarkingTest : public testing::Test {
 protected:
  state::NftTable table_{.window = 0x3f00,
                         .classes = {{0x100, {.kind = state::NftClassKind::reply}},
                                     {0x200, {.kind = state::NftClassKind::source, .joins = {{0x100, 0x300}}}},
                                     {0x300, {.kind = state::NftClassKind::both}}},
                         .sources = {{ip("10.244.1.8"), 0x200}},
                         .vips = {{ip("203.0.113.45"), 0x100}},
                         .own = {net::Prefix::parse("10.244.0.0/16").value()}};
  Packet packet_{.from = ip("10.244.1.7"),
                 .to = ip("198.18.7.9"),
                 .iif = net::InterfaceName::parse("cni0").value(),
                 .mark = 0x4000};
};

TEST_F(MarkingTest, a_reply_gets_its_vips_mark_and_keeps_foreign_bits) {
  EXPECT_EQ(marked(table_, packet_, ip("203.0.113.45")), 0x4100U);
  EXPECT_EQ(marked(table_, packet_, ip("203.0.113.46")), 0x4000U);
  EXPECT_EQ(marked(table_, packet_, std::nullopt), 0x4000U);
}

TEST_F(MarkingTest, a_reply_to_a_client_of_the_cluster_is_left_alone) {
  packet_.to = ip("10.244.2.9");
  EXPECT_EQ(marked(table_, packet_, ip("203.0.113.45")), 0x4000U);
}

TEST_F(MarkingTest, a_source_is_marked_where_it_comes_in_and_joins_a_replys_class) {
  packet_.from = ip("10.244.1.8");
  EXPECT_EQ(marked(table_, packet_, std::nullopt), 0x4200U);
  EXPECT_EQ(marked(table_, packet_, ip("203.0.113.45")), 0x4300U);
  packet_.iif = {};
  EXPECT_EQ(marked(table_, packet_, std::nullopt), 0x4000U) << "this host's own packets are not looked at by source";
}

}  // namespace
}  // namespace path
