#include "state/sysctl.h"

#include <gtest/gtest.h>

namespace state {
namespace {

TEST(Sysctl, text_is_taken_back) {
  for (const auto* line : {"net/ipv4/conf/all/rp_filter = 2", "net/ipv4/conf/eth0.5/src_valid_mark = 1",
                           "net/ipv6/conf/eth0/forwarding = 1"}) {
    EXPECT_EQ(text(parse_sysctl(line).value()), line);
  }
  EXPECT_EQ(path(parse_sysctl("net/ipv4/conf/eth0.5/arp_ignore = 8").value()), "net/ipv4/conf/eth0.5/arp_ignore");
}

TEST(Sysctl, what_cannot_be_is_refused_with_the_name) {
  for (const auto* line : {"net/ipv4/conf/all/rp_filter", "net.ipv4.conf.all.rp_filter = 1", "net/ipv4/conf/all/x = 1",
                           "kernel/panic = 1", "net/ipv4/conf/../rp_filter = 1", ""}) {
    EXPECT_FALSE(parse_sysctl(line)) << line;
  }
  EXPECT_EQ(validate(parse_sysctl("net/ipv4/conf/all/rp_filter = 3").value()).error().message(),
            "rp_filter: 3 is not from 0 to 2");
  EXPECT_EQ(validate(parse_sysctl("net/ipv6/conf/all/rp_filter = 1").value()).error().message(),
            "rp_filter: only for IPv4");
}

}  // namespace
}  // namespace state
