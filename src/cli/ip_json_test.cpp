#include "cli/ip_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using testing::ElementsAre;

// As iproute2 6.1 printed them.
constexpr std::string_view kDump = R"([{"priority":0,"src":"all","table":"local"},
{"priority":1000,"src":"10.96.23.17","table":"100","protocol":"183"},
{"priority":1001,"not":null,"src":"10.0.0.0","srclen":8,"dst":"192.0.2.0","dstlen":24,"tos":"0x10","fwmark":"0x100",
 "fwmask":"0x3f00","iif":"lo","oif":"lo","uid_start":5,"uid_end":6,"ipproto":"tcp","sport":80,"dport_start":100,
 "dport_end":200,"table":"main","suppress_prefixlen":0,"suppress_ifgroup":"3"},
{"priority":1002,"src":"all","goto":2000},{"priority":1003,"src":"all","action":"blackhole"},
{"priority":2000,"src":"all","nop":null},{"priority":2001,"src":"all","l3mdev":null},
{"priority":2002,"src":"fd00::1","fwmark":"0x7","table":"7"},
{"priority":5000,"src":"all","tun_id":7,"table":"7"}])";

TEST(IpJson, rules_are_read_as_ip_prints_them) {
  const auto dumped = parse_ip_rules(net::Family::v4, kDump);
  ASSERT_TRUE(dumped) << dumped.error().message();
  std::vector<std::string> texts;
  for (const state::Rule& rule : dumped->rules) texts.push_back(text(rule));
  EXPECT_THAT(texts, ElementsAre("0: from all lookup local", "1000: from 10.96.23.17 lookup 100 proto 183",
                                 "1001: not from 10.0.0.0/8 to 192.0.2.0/24 tos 0x10 fwmark 0x100/0x3f00 iif lo oif lo "
                                 "uidrange 5-6 ipproto tcp sport 80 dport 100-200 lookup main suppress_prefixlength 0 "
                                 "suppress_ifgroup 3",
                                 "1002: from all goto 2000", "1003: from all blackhole", "2000: from all nop",
                                 "2001: from all lookup [l3mdev-table]", "2002: from fd00::1 fwmark 0x7 lookup 7"));
  EXPECT_EQ(dumped->rules[1].family, net::Family::v4);
  EXPECT_EQ(dumped->rules[7].family, net::Family::v6);
}

TEST(IpJson, what_is_not_known_is_named_and_not_half_read) {
  const auto dumped = parse_ip_rules(net::Family::v4, kDump);
  ASSERT_TRUE(dumped);
  ASSERT_EQ(dumped->unread.size(), 1U);
  EXPECT_EQ(dumped->unread[0].rule, "rule 5000");
  EXPECT_EQ(dumped->unread[0].reason, "tun_id 7");
}

TEST(IpJson, what_is_no_dump_is_an_error) {
  EXPECT_FALSE(parse_ip_rules(net::Family::v4, "{}"));
  EXPECT_FALSE(parse_ip_rules(net::Family::v4, "0: from all lookup local"));
}

}  // namespace
}  // namespace cli
