#include "state/nexthop.h"

#include <gtest/gtest.h>

namespace state {
namespace {

using net::Family;

Nexthop v4(std::string_view text) {
  return parse_nexthop(Family::v4, text).value();
}

TEST(Nexthop, text_is_a_line_of_ip_nexthop) {
  for (const auto* line :
       {"id 5 via 10.0.0.1 dev eth0 proto 183", "id 5 via 10.9.0.1 dev eth0 proto 183 onlink",
        "id 4294967295 dev eth0 proto static", "id 6 group 5/7,20 proto 183", "id 7 blackhole proto 183",
        "id 8 group 5/6 type resilient buckets 32 idle_timer 12000 unbalanced_timer 0 proto 183"}) {
    EXPECT_EQ(text(v4(line)), line);
  }
}

TEST(Nexthop, wrong_text_is_refused_with_the_field) {
  const auto message = [](std::string_view text) { return parse_nexthop(Family::v4, text).error().message(); };
  EXPECT_EQ(message("id x"), "id: \"x\" is not understood");
  EXPECT_EQ(message("id 5 group 1//2"), "group: \"\" is not understood");
  EXPECT_EQ(message("id 5 group 1/2/"), "group: \"\" is not understood");
  EXPECT_EQ(message("id 5 type mpath"), "type: \"mpath\" is not understood");
  EXPECT_EQ(message("id 5 fdb on"), "\"fdb\" is no word of a nexthop");
}

TEST(Nexthop, order_of_members_means_nothing) {
  EXPECT_EQ(v4("id 5 group 7/6,2"), v4("id 5 group 6,2/7"));
  EXPECT_EQ(parse_nexthop(Family::v6, "id 5 group 7/6").value(), v4("id 5 group 6/7"));
}

TEST(Nexthop, what_cannot_be_is_refused_with_the_field) {
  const auto refusal = [](std::string_view text, Family family = Family::v4) {
    const auto status = validate(parse_nexthop(family, text).value());
    return status ? std::string("accepted") : status.error().message();
  };
  EXPECT_EQ(refusal("id 5 via 10.0.0.1 dev eth0 proto 183"), "accepted");
  EXPECT_EQ(refusal("via 10.0.0.1 dev eth0 proto 183"), "id: 0 lets the kernel choose one");
  EXPECT_EQ(refusal("id 5 dev eth0"), "protocol: 0 says nobody made the nexthop");
  EXPECT_EQ(refusal("id 5 via 10.0.0.1 proto 183"), "dev: missing");
  EXPECT_EQ(refusal("id 5 via 10.0.0.1 dev eth0 proto 183", Family::v6), "via: 10.0.0.1 is not IPv6");
  EXPECT_EQ(refusal("id 5 dev eth0 onlink proto 183"), "onlink: only with a gateway");
  EXPECT_EQ(refusal("id 5 blackhole dev eth0 proto 183"), "dev: a blackhole goes nowhere");
  EXPECT_EQ(refusal("id 5 group 6/7 dev eth0 proto 183"), "group: has no way out of its own");
  EXPECT_EQ(refusal("id 5 group 5/6 proto 183"), "group: 5 cannot be a member");
  EXPECT_EQ(refusal("id 5 group 6/6,2 proto 183"), "group: twice the same: use its weight");
  EXPECT_EQ(refusal("id 5 group 6,257 proto 183"), "group: weight 257 is not from 1 to 255");
  EXPECT_EQ(refusal("id 5 dev eth0 type resilient proto 183"), "type: resilient is only for a group");
  EXPECT_EQ(refusal("id 5 group 6/7 type resilient buckets 1 proto 183"), "buckets: fewer than members");
}

}  // namespace
}  // namespace state
