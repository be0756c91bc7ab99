#include "intent/cluster/cluster_prefixes.h"

#include <gtest/gtest.h>

namespace intent {
namespace {

using Texts = std::vector<std::string>;

api::Node node(const Texts& pods, const Texts& addresses) {
  api::Node out;
  for (const auto& text : pods) out.pod_cidrs.push_back(net::Prefix::parse(text).value());
  for (const auto& text : addresses) out.addresses.push_back(net::Address::parse(text).value());
  return out;
}

TEST(ClusterPrefixes, pods_nodes_and_what_the_administrator_adds) {
  const api::Node a = node({"10.244.0.0/24", "fd00:10::/64"}, {"192.0.2.11"});
  const api::Node b = node({"10.244.5.0/24"}, {"192.0.2.200", "2001:db8::b"});
  const std::vector<const api::Node*> nodes = {&b, &a};
  EXPECT_EQ(cluster_prefixes(nodes, Texts{"10.96.0.0/12", "typo"}),
            (Texts{"10.96.0.0/12", "10.244.0.0/24", "10.244.5.0/24", "192.0.2.11/32", "192.0.2.200/32",
                   "2001:db8::b/128", "fd00:10::/64"}));
}

TEST(ClusterPrefixes, neighbours_are_joined_and_inner_ones_dropped) {
  std::vector<api::Node> many;
  for (int i = 0; i < 256; ++i) {
    many.push_back(node({"10.244." + std::to_string(i) + ".0/24"}, {"10.244." + std::to_string(i) + ".1"}));
  }
  std::vector<const api::Node*> nodes;
  for (const api::Node& one : many) nodes.push_back(&one);
  EXPECT_EQ(cluster_prefixes(nodes, {}), Texts{"10.244.0.0/16"});
  nodes.erase(nodes.begin() + 1);
  EXPECT_EQ(cluster_prefixes(nodes, {}).front(), "10.244.0.0/24");
  EXPECT_EQ(cluster_prefixes(nodes, {}).back(), "10.244.128.0/17");
}

}  // namespace
}  // namespace intent
