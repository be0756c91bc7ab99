#include "state/address.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "state/arbitrary_address.h"

namespace state {
namespace {

InterfaceAddress address_of(std::string_view text) {
  return parse_address(text).value();
}

TEST(InterfaceAddress, text_has_the_words_of_ip_addr) {
  for (const auto* line : {"10.0.0.2/24 dev eth0 proto 183", "10.0.0.2/32 dev lo scope host",
                           "10.0.0.2/24 brd 10.0.0.255 dev eth0 label eth0:1 metric 5 noprefixroute proto 183",
                           "10.0.0.2 peer 10.0.0.3/32 dev ppp0", "2001:db8::1/64 dev eth0 nodad preferred_lft 0",
                           "fe80::1/64 dev eth0 scope link"}) {
    EXPECT_EQ(text(address_of(line)), line);
  }
}

TEST(InterfaceAddress, wrong_text_is_refused_with_the_field) {
  const auto message = [](std::string_view text) { return parse_address(text).error().message(); };
  EXPECT_EQ(message(""), "address: missing");
  EXPECT_EQ(message("10.0.0.2/33 dev eth0"), "address: \"33\" is not understood");
  EXPECT_EQ(message("10.0.0/24 dev eth0"), "address: \"10.0.0\" is not an IP address");
  EXPECT_EQ(message("10.0.0.2/24 dev"), "dev: has no value");
  EXPECT_EQ(message("10.0.0.2/24 colour red"), "\"colour\" is no word of an address");
}

TEST(InterfaceAddress, addresses_that_mean_the_same_have_one_form) {
  EXPECT_EQ(address_of("10.0.0.2 dev eth0 label eth0"), address_of("10.0.0.2/32 dev eth0 scope global"));
  EXPECT_EQ(address_of("10.0.0.2 peer 10.0.0.2/24 dev eth0"), address_of("10.0.0.2/24 dev eth0"));
  EXPECT_EQ(address_of("fe80::1/64 dev eth0 scope global"), address_of("fe80::1/64 dev eth0 scope link"));
  EXPECT_EQ(address_of("::ffff:10.0.0.2/24 dev eth0"), address_of("10.0.0.2/24 dev eth0"));
}

TEST(InterfaceAddress, key_has_the_length_only_for_ipv4) {
  EXPECT_NE(key(address_of("10.0.0.2/24 dev eth0")), key(address_of("10.0.0.2/32 dev eth0")));
  EXPECT_NE(key(address_of("10.0.0.2/24 dev eth0")), key(address_of("10.0.0.2/24 dev eth1")));
  EXPECT_EQ(key(address_of("fd00::2/64 dev eth0")), key(address_of("fd00::2/128 dev eth0 nodad")));
}

TEST(InterfaceAddress, what_cannot_be_is_refused_with_the_field) {
  const auto refusal = [](std::string_view text) {
    const auto status = validate(address_of(text));
    return status ? std::string("accepted") : status.error().message();
  };
  EXPECT_EQ(refusal("10.0.0.2/24 dev eth0"), "accepted");
  EXPECT_EQ(refusal("10.0.0.2/24"), "dev: missing");
  EXPECT_EQ(refusal("0.0.0.0/24 dev eth0"), "address: missing");
  EXPECT_EQ(refusal("224.0.0.9/24 dev eth0"), "address: 224.0.0.9 is a multicast group's");
  EXPECT_EQ(refusal("ff02::9/64 dev eth0"), "address: ff02::9 is a multicast group's");
  EXPECT_EQ(refusal("10.0.0.2/24 dev eth0 scope nowhere"), "scope: an address is somewhere");
  EXPECT_EQ(refusal("10.0.0.2/0 dev eth0"), "address: prefix length 0 is not from 1 to 32");
  EXPECT_EQ(refusal("10.0.0.2/24 peer fd00::1 dev eth0"), "peer: fd00::1 is not IPv4");
  EXPECT_EQ(refusal("fd00::1/64 brd fd00::2 dev eth0"), "brd: only for IPv4 addresses");
  EXPECT_EQ(refusal("10.0.0.2/24 nodad dev eth0"), "nodad: only for IPv6 addresses");
  EXPECT_EQ(refusal("10.0.0.2/24 dev eth0 label vip"), "label: begins with the name of the link");
  EXPECT_EQ(refusal("10.0.0.2/24 dev eth0 label eth0:1234567890a"), "label: longer than 15 characters");
}

RC_GTEST_PROP(InterfaceAddress, every_address_survives_its_text, ()) {
  const InterfaceAddress address = arbitrary_address();
  RC_ASSERT(parse_address(text(address)).value() == address);
  RC_ASSERT(canonical(address) == address);
}

}  // namespace
}  // namespace state
