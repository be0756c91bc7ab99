#include "kernel/netlink/message.h"

#include <linux/rtnetlink.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kernel/netlink/attribute.h"

namespace kernel {
namespace {

std::span<const std::byte> payload(const Message& message) {
  std::span<const std::byte> bytes = message.bytes();
  return next_message(bytes).value().payload;
}

TEST(Message, what_is_put_is_read_back) {
  Message message(RTM_NEWLINK, NLM_F_CREATE, ifinfomsg{});
  message.put_u8(1, 200);
  message.put_text(2, "veth0");
  message.put_nested(3, [&] {
    message.put_u32(4, 0xdeadbeef);
    message.put_flag(5);
  });
  message.put_address(6, net::Address::parse("2001:db8::1").value());

  auto rest = payload(message);
  ASSERT_TRUE(take_header<ifinfomsg>(rest));
  EXPECT_EQ(next_attribute(rest).value().u8().value(), 200);
  EXPECT_EQ(next_attribute(rest).value().text().value(), "veth0");
  auto nested = next_attribute(rest).value().value;
  EXPECT_EQ(next_attribute(nested).value().u32().value(), 0xdeadbeef);
  EXPECT_TRUE(next_attribute(nested).value().value.empty());
  EXPECT_TRUE(nested.empty());
  EXPECT_EQ(next_attribute(rest).value().address(net::Family::v6).value().text(), "2001:db8::1");
  EXPECT_TRUE(rest.empty());
}

TEST(Message, attributes_together_may_exceed_64_kib_but_one_alone_may_not) {
  const std::vector<std::byte> half(40000);
  Message wide(RTM_NEWROUTE, 0, rtmsg{});
  wide.put_bytes(1, half);
  wide.put_bytes(2, half);
  EXPECT_TRUE(wide.fits());
  auto rest = payload(wide);
  ASSERT_TRUE(take_header<rtmsg>(rest));
  EXPECT_EQ(next_attribute(rest).value().value.size(), half.size());
  EXPECT_EQ(next_attribute(rest).value().value.size(), half.size());

  Message single(RTM_NEWROUTE, 0, rtmsg{});
  single.put_bytes(1, std::vector<std::byte>(65532));
  EXPECT_FALSE(single.fits());

  Message nested(RTM_NEWROUTE, 0, rtmsg{});
  nested.put_nested(RTA_MULTIPATH, [&] {
    nested.put_bytes(1, half);
    nested.put_bytes(2, half);
  });
  EXPECT_FALSE(nested.fits());
}

TEST(Message, text_with_a_nul_inside_is_unfit) {
  Message message(RTM_NEWLINK, 0, ifinfomsg{});
  message.put_text(IFLA_IFNAME, std::string_view("eth0\0x", 6));
  EXPECT_FALSE(message.fits());
}

TEST(Attribute, every_length_is_checked) {
  const std::array<std::byte, 3> three{};
  const Attribute attribute{.type = 7, .value = three};
  EXPECT_EQ(attribute.u32().error().message(), "netlink attribute 7 has 3 bytes, not 4");
  EXPECT_FALSE(attribute.address(net::Family::v4));
  EXPECT_TRUE(attribute.text());
  const std::array<std::byte, 2> unended = {std::byte{'a'}, std::byte{'b'}};
  EXPECT_EQ((Attribute{.type = 3, .value = unended}).text().error().message(), "netlink text 3 has no end");
}

TEST(Attribute, mapped_address_is_refused) {
  auto mapped = std::array<std::uint8_t, 16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1};
  const Attribute attribute{.type = 2, .value = std::as_bytes(std::span(mapped))};
  EXPECT_EQ(attribute.address(net::Family::v6).error().fault(), base::Fault::invalid);
}

TEST(Attribute, cut_header_and_overlong_value_are_errors) {
  const auto bytes_of = [](std::vector<std::uint8_t>& raw) { return std::as_bytes(std::span(raw)); };
  std::vector<std::uint8_t> cut = {4, 0, 1};
  std::vector<std::uint8_t> overlong = {9, 0, 1, 0, 1, 2, 3, 4};
  std::vector<std::uint8_t> short_length = {3, 0, 1, 0};
  for (auto* raw : {&cut, &overlong, &short_length}) {
    std::span<const std::byte> rest = bytes_of(*raw);
    EXPECT_FALSE(next_attribute(rest));
  }
}

RC_GTEST_PROP(Attribute, any_bytes_end_in_an_error_or_at_their_end, (const std::vector<std::uint8_t>& raw)) {
  std::span<const std::byte> rest = std::as_bytes(std::span(raw));
  std::size_t seen = 0;
  while (!rest.empty()) {
    const auto attribute = next_attribute(rest);
    if (!attribute) break;
    seen += attribute->value.size();
  }
  RC_ASSERT(seen <= raw.size());
}

}  // namespace
}  // namespace kernel
