#include "api/service.h"

#include <gtest/gtest.h>

#include "api/node.h"

namespace api {
namespace {

Service decode(std::string_view spec, std::string_view ingress) {
  json::Reader reader;
  const std::string text = R"({"metadata":{"name":"web","namespace":"shop","uid":"u","labels":{"a":"b"}},"spec":)" +
                           std::string(spec) + R"(,"status":{"loadBalancer":{"ingress":)" + std::string(ingress) +
                           "}}}";
  return decode_service(*reader.parse(text)).value();
}

std::vector<std::string> texts(const std::vector<net::Address>& addresses) {
  std::vector<std::string> out;
  for (const auto& address : addresses) out.push_back(address.text());
  return out;
}

using Texts = std::vector<std::string>;

TEST(Service, D8_both_families_of_a_dual_stack_service_are_read) {
  const Service service =
      decode(R"({"type":"LoadBalancer","clusterIP":"10.96.1.50","clusterIPs":["10.96.1.50","fd00::50"]})",
             R"([{"ip":"2001:db8::9"},{"ip":"203.0.113.9","ipMode":"VIP"}])");
  EXPECT_TRUE(service.is_load_balancer);
  EXPECT_EQ(texts(service.cluster_ips), (Texts{"10.96.1.50", "fd00::50"}));
  EXPECT_EQ(texts(service.vips), (Texts{"203.0.113.9", "2001:db8::9"}));
  EXPECT_TRUE(service.meta.labels.empty());
}

TEST(Service, what_is_no_address_is_left_out) {
  EXPECT_TRUE(decode(R"({"type":"LoadBalancer","clusterIP":"None","clusterIPs":["None"]})", "[]").cluster_ips.empty());
  EXPECT_EQ(texts(decode(R"({"clusterIP":"10.96.0.9"})", "[]").cluster_ips), Texts{"10.96.0.9"});
  const Service service =
      decode(R"({"type":"LoadBalancer"})", R"([{"hostname":"lb.example"},{"ip":""},{"ip":"x"},{"ip":"192.0.2.1"}])");
  EXPECT_EQ(texts(service.vips), Texts{"192.0.2.1"});
  EXPECT_EQ(service.hostnames, 1U);
}

TEST(Service, D13_order_of_ingress_means_nothing_and_identity_does) {
  const auto* spec = R"({"type":"LoadBalancer","clusterIPs":["10.96.0.1"]})";
  const Service one = decode(spec, R"([{"ip":"192.0.2.1"},{"ip":"192.0.2.2"}])");
  Service other = decode(spec, R"([{"ip":"192.0.2.2"},{"ip":"192.0.2.1"},{"ip":"192.0.2.1"}])");
  EXPECT_TRUE(same_addresses(one, other));
  other.meta.uid = "recreated";
  EXPECT_FALSE(same_addresses(one, other));
  EXPECT_FALSE(same_addresses(one, decode(R"({"type":"LoadBalancer","clusterIPs":["10.96.0.1","fd00::1"]})",
                                          R"([{"ip":"192.0.2.1"},{"ip":"192.0.2.2"}])")));
  EXPECT_FALSE(same_addresses(
      one, decode(R"({"type":"ClusterIP","clusterIPs":["10.96.0.1"]})", R"([{"ip":"192.0.2.1"},{"ip":"192.0.2.2"}])")));
}

TEST(Service, an_address_behind_a_proxy_is_marked) {
  const Service service =
      decode(R"({"type":"LoadBalancer"})", R"([{"ip":"192.0.2.1","ipMode":"Proxy"},{"ip":"192.0.2.2"}])");
  EXPECT_EQ(texts(service.proxied_vips), Texts{"192.0.2.1"});
}

TEST(Node, labels_prefixes_and_internal_addresses_are_read) {
  json::Reader reader;
  const Node node = decode_node(*reader.parse(
                                    R"({"metadata":{"name":"n1","labels":{"zone":"a"},"annotations":{"x":"y"}},
                                        "spec":{"podCIDR":"10.244.1.0/24","podCIDRs":["10.244.1.0/24","fd01::/64"]},
                                        "status":{"addresses":[{"type":"InternalIP","address":"192.0.2.9"},
                                                               {"type":"Hostname","address":"n1"}]}})"))
                        .value();
  EXPECT_EQ(node.meta.labels.get("zone"), "a");
  EXPECT_TRUE(node.meta.annotations.empty());
  EXPECT_EQ(node.pod_cidrs.size(), 2U);
  EXPECT_EQ(texts(node.addresses), Texts{"192.0.2.9"});
}

}  // namespace
}  // namespace api
