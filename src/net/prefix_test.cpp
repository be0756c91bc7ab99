#include "net/prefix.h"

#include <gtest/gtest.h>

namespace net {
namespace {

TEST(Prefix, host_bits_are_ignored) {
  EXPECT_EQ(*Prefix::parse("10.0.0.5/24"), *Prefix::parse("10.0.0.0/24"));
  EXPECT_EQ(Prefix::parse("2001:db8:77::9/64")->text(), "2001:db8:77::/64");
  EXPECT_EQ(Prefix::parse("0.0.0.0/0")->length(), 0);
}

TEST(Prefix, bare_address_is_refused_with_the_cure) {
  EXPECT_EQ(Prefix::parse("192.168.1.10").error().message(),
            "\"192.168.1.10\" has no prefix length: write 192.168.1.10/32 for this one address");
  EXPECT_EQ(Prefix::parse("fd00::1").error().message(),
            "\"fd00::1\" has no prefix length: write fd00::1/128 for this one address");
}

TEST(Prefix, wrong_text_is_refused) {
  for (const auto* text :
       {"", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8 ", "010.0.0.0/8",
        "fe80::%1/64", "::/129", "::ffff:10.0.0.0/104", "10.0.0.0/8/8"}) {
    EXPECT_FALSE(Prefix::parse(text)) << text;
  }
}

TEST(Prefix, contains_and_overlaps_respect_the_family) {
  const Prefix wide = *Prefix::parse("10.0.0.0/8");
  EXPECT_TRUE(wide.contains(*Address::parse("10.255.0.1")));
  EXPECT_FALSE(wide.contains(*Address::parse("11.0.0.1")));
  EXPECT_FALSE(Prefix::parse("::/0")->contains(*Address::parse("10.0.0.1")));
  EXPECT_TRUE(wide.overlaps(*Prefix::parse("10.1.0.0/16")));
  EXPECT_TRUE(Prefix::parse("10.1.0.0/16")->overlaps(wide));
  EXPECT_FALSE(wide.overlaps(*Prefix::parse("11.0.0.0/8")));
}

}  // namespace
}  // namespace net
