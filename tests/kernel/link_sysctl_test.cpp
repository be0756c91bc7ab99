#include "kernel/sysctl.h"
#include "tests/kernel/route_world.h"

namespace kernel {
namespace {

using Sysctl = rtnl::RouteWorld;

state::Sysctl sysctl_of(std::string_view text) {
  return state::parse_sysctl(text).value();
}

TEST_F(Sysctl, value_is_written_once_and_read) {
  const auto loose = sysctl_of("net/ipv4/conf/eth0/rp_filter = 2");
  const auto written = write_sysctl(loose);
  if (!written && written.error().fault() == base::Fault::denied) GTEST_SKIP() << written.error().message();
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(read_sysctl(loose).value(), 2);
  EXPECT_EQ(run("cat /proc/sys/net/ipv4/conf/eth0/rp_filter"), "2\n") << "in this namespace, not the machine's";
}

TEST_F(Sysctl, reverse_path_filter_in_force_is_the_larger_one) {
  if (!write_sysctl(sysctl_of("net/ipv4/conf/eth0/rp_filter = 0"))) GTEST_SKIP() << "/proc/sys is read-only";
  ASSERT_TRUE(write_sysctl(sysctl_of("net/ipv4/conf/all/rp_filter = 1")));
  EXPECT_EQ(effective_rp_filter(net::InterfaceName::parse("eth0").value()).value(), 1);
  ASSERT_TRUE(write_sysctl(sysctl_of("net/ipv4/conf/eth0/rp_filter = 2")));
  EXPECT_EQ(effective_rp_filter(net::InterfaceName::parse("eth0").value()).value(), 2);
}

TEST_F(Sysctl, missing_link_is_absent) {
  EXPECT_EQ(read_sysctl(sysctl_of("net/ipv4/conf/eth9/rp_filter = 0")).error().fault(), base::Fault::absent);
}

}  // namespace
}  // namespace kernel
