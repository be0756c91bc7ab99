#include "net/special_address.h"

#include <gtest/gtest.h>

namespace net {
namespace {

Address ip(const char* text) {
  return Address::parse(text).value();
}

TEST(SpecialAddress, ranges_end_where_they_should) {
  for (const char* text : {"127.0.0.1", "127.255.255.255", "::1"}) EXPECT_TRUE(is_loopback(ip(text))) << text;
  for (const char* text : {"126.0.0.1", "128.0.0.1", "::", "::2", "1::1"}) EXPECT_FALSE(is_loopback(ip(text))) << text;
  for (const char* text : {"169.254.1.1", "fe80::1", "febf::1"}) EXPECT_TRUE(is_link_local(ip(text))) << text;
  for (const char* text : {"169.253.1.1", "fec0::1", "fd00::1"}) EXPECT_FALSE(is_link_local(ip(text))) << text;
  for (const char* text : {"224.0.0.1", "239.255.255.255", "ff02::1"}) EXPECT_TRUE(is_multicast(ip(text))) << text;
  for (const char* text : {"223.0.0.1", "240.0.0.1", "fe80::1"}) EXPECT_FALSE(is_multicast(ip(text))) << text;
}

}  // namespace
}  // namespace net
