#include "agent/host_network.h"

#include <vector>

#include <gtest/gtest.h>

namespace agent {
namespace {

net::Address ip(const char* text) {
  return net::Address::parse(text).value();
}

TEST(HostNetwork, F14_a_network_without_any_address_of_the_node_is_not_its_own) {
  const std::vector node = {ip("192.0.2.1"), ip("2001:db8::1")};
  const auto trouble = not_the_hosts_network(node, {.bound = {ip("127.0.0.1"), ip("10.244.0.7")}});
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->reason, "NotTheHostsNetwork");
  EXPECT_TRUE(trouble->message.contains("192.0.2.1")) << trouble->message;
}

TEST(HostNetwork, F14_one_address_of_it_is_enough_and_none_known_is_no_reason) {
  const std::vector node = {ip("192.0.2.1"), ip("2001:db8::1")};
  EXPECT_FALSE(not_the_hosts_network(node, {.bound = {ip("127.0.0.1"), ip("2001:db8::1")}}));
  EXPECT_FALSE(not_the_hosts_network({}, {.bound = {ip("127.0.0.1")}}));
}

}  // namespace
}  // namespace agent
