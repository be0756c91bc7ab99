#include "kernel/rtnl/rule.h"

#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "state/arbitrary_rule.h"

namespace kernel::rtnl {
namespace {

using state::OpaqueRule;
using state::Rule;

std::variant<Rule, OpaqueRule> decoded(const Message& message) {
  std::span<const std::byte> bytes = message.bytes();
  return decode_rule(next_message(bytes).value()).value();
}

Rule rule_of(std::string_view text) {
  return state::parse_rule(net::Family::v4, text).value();
}

RC_GTEST_PROP(RuleCodec, what_is_added_and_removed_is_what_is_read, ()) {
  Rule rule = state::arbitrary_rule();
  if (rule.protocol == 0) rule.protocol = 183;
  RC_ASSERT(std::get<Rule>(decoded(encode_add(rule, true).value())) == rule);
  RC_ASSERT(std::get<Rule>(decoded(encode_remove(rule).value())) == rule);
}

TEST(RuleCodec, F11_incomplete_message_cannot_be_made) {
  for (const auto* text : {"0: from all", "5: from 10.0.0.7 lookup 100", "5: from 10.0.0.7 proto 183"}) {
    const auto message = encode_remove(rule_of(text));
    ASSERT_FALSE(message) << text;
    EXPECT_EQ(message.error().fault(), base::Fault::bug);
    EXPECT_FALSE(encode_add(rule_of(text), true));
  }
  EXPECT_TRUE(encode_remove(rule_of("0: from all lookup 100 proto 183")));
  EXPECT_TRUE(encode_remove(rule_of("5: from all blackhole proto 183")));
  EXPECT_FALSE(encode_remove(OpaqueRule{}));
}

TEST(RuleCodec, rule_with_an_unknown_attribute_is_opaque_and_keeps_its_bytes) {
  Message message = encode_add(rule_of("5: from 10.0.0.7 lookup 100 proto 183"), false).value();
  message.put_u8(200, 1);
  const auto opaque = std::get<OpaqueRule>(decoded(message));
  EXPECT_EQ(opaque.reason, "attribute 200");
  EXPECT_EQ(text(opaque), "5: (attribute 200) lookup 100 proto 183");
  const Message removal = encode_remove(opaque).value();
  EXPECT_EQ(removal.type(), RTM_DELRULE);
  EXPECT_EQ(std::get<OpaqueRule>(decoded(removal)), opaque);
}

TEST(RuleCodec, what_our_type_cannot_hold_exactly_is_opaque) {
  fib_rule_hdr header{};
  header.family = AF_INET;
  header.src_len = 24;
  header.action = FR_ACT_TO_TBL;
  Message host_bits(RTM_NEWRULE, 0, header);
  host_bits.put_address(FRA_SRC, net::Address::parse("10.0.0.5").value());
  EXPECT_EQ(std::get<OpaqueRule>(decoded(host_bits)).reason, "host bits or mapped address");

  header.src_len = 0;
  Message stray_mark(RTM_NEWRULE, 0, header);
  stray_mark.put_u32(FRA_FWMARK, 0x1ff);
  stray_mark.put_u32(FRA_FWMASK, 0xf0);
  EXPECT_EQ(std::get<OpaqueRule>(decoded(stray_mark)).reason, "mark outside its mask");

  header.flags = 0x4000;
  EXPECT_EQ(std::get<OpaqueRule>(decoded(Message(RTM_NEWRULE, 0, header))).reason, "flags 0x4000");
}

TEST(RuleCodec, cut_messages_are_errors) {
  const Message whole = encode_add(rule_of("5: from 10.0.0.7 lookup 100 proto 183"), false).value();
  std::span<const std::byte> bytes = whole.bytes();
  Received received = next_message(bytes).value();
  received.payload = received.payload.first(received.payload.size() - 5);
  EXPECT_FALSE(decode_rule(received));
  received.payload = received.payload.first(7);
  EXPECT_FALSE(decode_rule(received));
}

}  // namespace
}  // namespace kernel::rtnl
