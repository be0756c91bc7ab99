#include "net/address.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace net {
namespace {

std::string round_trip(std::string_view text) {
  return Address::parse(text).value().text();
}

TEST(Address, text_is_canonical) {
  EXPECT_EQ(round_trip("10.96.1.50"), "10.96.1.50");
  EXPECT_EQ(round_trip("2001:0DB8:0:0:1:0:0:1"), "2001:db8::1:0:0:1");
  EXPECT_EQ(round_trip("2001:db8:0:1:1:1:1:1"), "2001:db8:0:1:1:1:1:1");
  EXPECT_EQ(round_trip("::"), "::");
  EXPECT_EQ(round_trip("fd00::"), "fd00::");
  EXPECT_EQ(round_trip("::1"), "::1");
  EXPECT_EQ(round_trip("::1.2.3.4"), "::102:304");
}

TEST(Address, mapped_ipv6_is_ipv4) {
  EXPECT_EQ(round_trip("::ffff:192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(Address::parse("::ffff:192.0.2.1")->family(), Family::v4);
}

TEST(Address, wrong_text_is_refused_and_named) {
  for (const auto* text :
       {"", "10.0.0", "010.0.0.1", "10.0.0.1 ", "10.0.0.256", "fe80::1%eth0", ":::", "1::2::3", "localhost"}) {
    const auto address = Address::parse(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().message(), std::string("\"") + text + "\" is not an IP address");
  }
  EXPECT_FALSE(Address::parse(std::string_view("10.0.0.1\0x", 10)));
}

TEST(Address, order_is_family_then_number) {
  EXPECT_LT(*Address::parse("9.0.0.0"), *Address::parse("10.0.0.0"));
  EXPECT_LT(*Address::parse("255.0.0.0"), *Address::parse("::1"));
}

Address arbitrary(const std::vector<std::uint8_t>& raw) {
  return Address::from_bytes(std::as_bytes(std::span(raw))).value();
}

RC_GTEST_PROP(Address, every_address_survives_its_text, (bool v6)) {
  // Few distinct bytes, so that runs of zero groups are common.
  const auto raw =
      *rc::gen::container<std::vector<std::uint8_t>>(v6 ? 16 : 4, rc::gen::element<std::uint8_t>(0, 0, 0, 1, 255));
  const Address address = arbitrary(raw);
  RC_ASSERT(Address::parse(address.text()).value() == address);
}

RC_GTEST_PROP(Address, masking_keeps_exactly_the_first_bits, (std::uint32_t number)) {
  const auto length = *rc::gen::inRange(0, 33);
  const std::vector<std::uint8_t> raw = {static_cast<std::uint8_t>(number >> 24U),
                                         static_cast<std::uint8_t>(number >> 16U),
                                         static_cast<std::uint8_t>(number >> 8U), static_cast<std::uint8_t>(number)};
  const std::uint64_t mask = ~0ULL << static_cast<unsigned>(32 - length);
  const auto kept = static_cast<std::uint32_t>(number & mask);
  const std::vector<std::uint8_t> expected = {static_cast<std::uint8_t>(kept >> 24U),
                                              static_cast<std::uint8_t>(kept >> 16U),
                                              static_cast<std::uint8_t>(kept >> 8U), static_cast<std::uint8_t>(kept)};
  RC_ASSERT(arbitrary(raw).masked(length) == arbitrary(expected));
}

}  // namespace
}  // namespace net
