#include "kernel/rtnl/rule_run.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kernel/rtnl/rule.h"
#include "state/arbitrary_rule.h"

namespace kernel::rtnl {
namespace {

using state::Rule;

// A message, and what decode_rule() makes of it.
struct Sample {
  explicit Sample(const Rule& rule) : message(encode_add(rule, true).value()) {
    std::span<const std::byte> bytes = message.bytes();
    received = next_message(bytes).value();
  }
  Message message;
  Received received{};
};

Rule rule_of(net::Family family, std::string_view text) {
  return state::parse_rule(family, text).value();
}

TEST(RuleRun, rule_with_another_source_is_read_without_decoding) {
  const Rule first = rule_of(net::Family::v4, "5: from 10.0.0.7 lookup 100 proto 183");
  const Rule second = rule_of(net::Family::v4, "5: from 10.0.0.8 lookup 100 proto 183");
  RuleRun run;
  EXPECT_EQ(run.next(Sample(first).received), nullptr);  // Nothing to compare with yet.
  run.start(Sample(first).received, first);
  const Rule* const alike = run.next(Sample(second).received);
  ASSERT_NE(alike, nullptr);
  EXPECT_EQ(*alike, second);
}

TEST(RuleRun, anything_else_that_differs_ends_the_run) {
  const Rule first = rule_of(net::Family::v4, "5: from 10.0.0.0/24 lookup 100 proto 183");
  RuleRun run;
  run.start(Sample(first).received, first);
  for (const auto* text : {"6: from 10.0.0.0/24 lookup 100 proto 183", "5: from 10.0.0.0/25 lookup 100 proto 183",
                           "5: from 10.0.0.0/24 lookup 101 proto 183", "5: from 10.0.0.0/24 lookup 100 proto 184",
                           "5: from 10.0.0.0/24 iif eth0 lookup 100 proto 183", "5: from all lookup 100 proto 183"}) {
    EXPECT_EQ(run.next(Sample(rule_of(net::Family::v4, text)).received), nullptr) << text;
  }
}

// The address as the kernel may hold it, not as our type would.
TEST(RuleRun, source_that_our_type_cannot_hold_is_left_to_the_decoder) {
  const Rule first = rule_of(net::Family::v6, "5: from fd00::/64 lookup 100 proto 183");
  RuleRun run;
  run.start(Sample(first).received, first);
  for (const std::string_view address : {"fd00::1", "::ffff:10.0.0.0"}) {
    Sample sample(first);
    std::vector<std::byte> bytes(sample.received.payload.begin(), sample.received.payload.end());
    const auto source = first.selector.from->address().bytes();
    const auto place = std::ranges::search(bytes, source).begin();
    std::array<std::byte, 16> other{};
    if (address == "fd00::1") {
      std::ranges::copy(source, other.begin());
      other[15] = std::byte{1};
    } else {
      other[10] = other[11] = std::byte{0xff};
      other[12] = std::byte{10};
    }
    std::ranges::copy(other, place);
    sample.received.payload = bytes;
    EXPECT_EQ(run.next(sample.received), nullptr) << address;
    EXPECT_TRUE(std::holds_alternative<state::OpaqueRule>(decode_rule(sample.received).value())) << address;
  }
}

RC_GTEST_PROP(RuleRun, what_it_reads_is_what_the_decoder_reads, ()) {
  auto rules = *rc::gen::container<std::vector<Rule>>(rc::gen::exec([] { return state::arbitrary_rule(); }));
  RuleRun run;
  for (Rule& rule : rules) {
    if (rule.protocol == 0) rule.protocol = 183;
    const Sample sample(rule);
    const Rule decoded = std::get<Rule>(decode_rule(sample.received).value());
    if (const Rule* const alike = run.next(sample.received)) {
      RC_ASSERT(*alike == decoded);
    } else {
      run.start(sample.received, decoded);
    }
  }
}

}  // namespace
}  // namespace kernel::rtnl
