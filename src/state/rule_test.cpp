#include "state/rule.h"

#include <unordered_set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "state/arbitrary_rule.h"

namespace state {
namespace {

using net::Family;

Rule v4(std::string_view text) {
  return parse_rule(Family::v4, text).value();
}

TEST(Rule, text_is_a_line_of_ip_rule) {
  for (const auto* line :
       {"500: from 10.0.0.7 lookup 100 proto 183", "0: from all lookup local proto kernel",
        "32766: from all lookup main", "9: not from 10.0.0.0/8 to 192.0.2.0/24 lookup 7 proto 183",
        "10: from all fwmark 0x100/0x3f00 lookup main suppress_prefixlength 0 proto 183",
        "11: from all tos 0x10 fwmark 0x14 iif eth0 oif eth1 uidrange 0-99 ipproto tcp sport 80 dport 1000-2000 "
        "lookup 4294967295 suppress_ifgroup 5 proto static",
        "12: from all lookup [l3mdev-table] proto kernel", "13: from all goto 20 proto 183",
        "14: from 10.0.0.0/8 blackhole proto 183", "15: from all nop proto 183", "16: from all prohibit proto 183",
        "17: from all unreachable proto 183"}) {
    EXPECT_EQ(text(v4(line)), line);
  }
  EXPECT_EQ(text(parse_rule(Family::v6, "5: from 2001:DB8::/32 lookup 9").value()), "5: from 2001:db8::/32 lookup 9");
}

TEST(Rule, the_words_of_ip_rule_add_are_understood) {
  EXPECT_EQ(v4("from 10.0.0.7/32 table 100 priority 500 protocol 183"), v4("500: from 10.0.0.7 lookup 100 proto 183"));
}

TEST(Rule, wrong_text_is_refused_with_the_field) {
  const auto message = [](std::string_view text) { return parse_rule(Family::v4, text).error().message(); };
  EXPECT_EQ(message("500: from 10.0.0.300 lookup 1"), "from: \"10.0.0.300\" is not an IP address");
  EXPECT_EQ(message("500: from all lookup 4294967296"), "table: \"4294967296\" is not understood");
  EXPECT_EQ(message("500: from all lookup"), "lookup: has no value");
  EXPECT_EQ(message("500: from all colour 3"), "\"colour\" is no word of a rule");
  EXPECT_EQ(message("500: from all iif abcdefghijklmnop lookup 1"),
            "iif: interface name \"abcdefghijklmnop\" is longer than 15 characters");
  EXPECT_EQ(message("-1: from all lookup 1"), "priority: \"-1\" is not understood");
}

TEST(Rule, rules_that_mean_the_same_have_one_form) {
  EXPECT_EQ(v4("5: from 0.0.0.0/0 lookup 1"), v4("5: from all lookup 1"));
  EXPECT_EQ(v4("5: from 10.0.0.5/24 lookup 1"), v4("5: from 10.0.0.0/24 lookup 1"));
  EXPECT_EQ(v4("5: from all fwmark 0x1ff/0xf0 lookup 1"), v4("5: from all fwmark 0xf0/0xf0 lookup 1"));
  EXPECT_EQ(v4("5: from all fwmark 0x1/0 lookup 1"), v4("5: from all lookup 1"));
}

TEST(Rule, what_cannot_be_is_refused_with_the_field) {
  const auto refusal = [](Family family, std::string_view text) {
    const auto status = validate(parse_rule(family, text).value());
    return status ? std::string("accepted") : status.error().message();
  };
  EXPECT_EQ(refusal(Family::v4, "5: from 10.0.0.7 lookup 100 proto 183"), "accepted");
  EXPECT_EQ(refusal(Family::v4, "5: from all fwmark 0x100/0x3f00 lookup main suppress_prefixlength 0 proto 183"),
            "accepted");
  EXPECT_EQ(refusal(Family::v4, "5: from all lookup 0 proto 183"), "table: 0 lets the kernel choose one");
  EXPECT_EQ(refusal(Family::v4, "5: from all lookup 7"), "protocol: 0 says nobody made the rule");
  EXPECT_EQ(refusal(Family::v4, "5: from fd00::1 lookup 7 proto 183"), "from: fd00::1/128 is not IPv4");
  EXPECT_EQ(refusal(Family::v6, "5: from ::ffff:192.0.2.1 lookup 7 proto 183"), "from: 192.0.2.1/32 is not IPv6");
  EXPECT_EQ(refusal(Family::v6, "5: to 10.0.0.1 lookup 7 proto 183"), "to: 10.0.0.1/32 is not IPv6");
  EXPECT_EQ(refusal(Family::v4, "5: goto 5 proto 183"), "goto: 5 is not after priority 5");
  EXPECT_EQ(refusal(Family::v4, "5: blackhole lookup 7 proto 183"), "table: only for a rule that looks up");
  EXPECT_EQ(refusal(Family::v4, "5: tos 0xe0 lookup 7 proto 183"), "tos: 0xe0 has bits outside 0x1c");
  EXPECT_EQ(refusal(Family::v4, "5: dport 20-10 lookup 7 proto 183"), "dport: 20 is above 10");
  EXPECT_EQ(refusal(Family::v4, "5: lookup 7 suppress_prefixlength 33 proto 183"),
            "suppress_prefixlength: 33 is more than IPv4 has");
}

TEST(Rule, tables_of_the_kernel_are_not_for_users) {
  for (const std::uint32_t table : {0U, 253U, 254U, 255U}) EXPECT_FALSE(validate_table(table)) << table;
  for (const std::uint32_t table : {1U, 252U, 256U, 4294967295U}) EXPECT_TRUE(validate_table(table)) << table;
}

RC_GTEST_PROP(Rule, every_rule_survives_its_text, ()) {
  const Rule rule = arbitrary_rule();
  RC_ASSERT(parse_rule(rule.family, text(rule)).value() == rule);
}

RC_GTEST_PROP(Rule, canonical_is_what_canonical_leaves_as_it_is, (std::uint32_t value, std::uint32_t mask)) {
  Rule rule = arbitrary_rule();
  if (*rc::gen::arbitrary<bool>()) rule.selector.mark = Mark{.value = value, .mask = mask};
  if (*rc::gen::arbitrary<bool>()) rule.selector.to = net::Prefix(net::Address(), 0);
  RC_ASSERT(is_canonical(rule) == (canonical(rule) == rule));
  RC_ASSERT(is_canonical(canonical(rule)));
}

RC_GTEST_PROP(Rule, equal_rules_have_equal_hashes_and_no_order, ()) {
  const Rule one = arbitrary_rule();
  const Rule two = arbitrary_rule();
  RC_ASSERT((one == two) == (text(one) == text(two) && one.family == two.family));
  RC_ASSERT((one < two) != (two <= one));
  if (one == two) RC_ASSERT(std::hash<Rule>()(one) == std::hash<Rule>()(two));
}

TEST(Rule, hashes_of_many_sources_differ) {
  std::unordered_set<std::size_t> hashes;
  for (int i = 0; i < 65536; ++i) {
    Rule rule = v4("500: from 10.0.0.7 lookup 100 proto 183");
    rule.selector.from =
        net::Prefix::parse("10.1." + std::to_string(i / 256) + "." + std::to_string(i % 256) + "/32").value();
    hashes.insert(std::hash<Rule>()(rule));
  }
  EXPECT_GT(hashes.size(), 65500);
}

TEST(Rule, is_small_because_nodes_hold_many) {
  EXPECT_LE(sizeof(Rule), 176);
}

}  // namespace
}  // namespace state
