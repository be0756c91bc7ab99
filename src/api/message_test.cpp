// Kinds that an API server writes as messages, too: what is decoded is the same. tests/api compares with what a real
// server writes.
#include "json/message_test.h"

#include <optional>

#include <gtest/gtest.h>

#include "api/endpoint_slice.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/service.h"

namespace api {
namespace {

using json::WrittenMessage;

WrittenMessage message(std::uint32_t number, const WrittenMessage& of) {
  return WrittenMessage().message(number, of);
}

// 2026-01-31T10:00:00Z
WrittenMessage meta_of(std::string_view name) {
  return WrittenMessage().text(1, name).text(2, "").text(3, "shop").text(5, "u").text(6, "12").number(7, 3).message(
      8, WrittenMessage().number(1, 1'769'853'600).number(2, 0));
}

constexpr std::string_view kMeta =
    R"("metadata":{"name":"web","namespace":"shop","uid":"u","resourceVersion":"12","generation":3,)"
    R"("creationTimestamp":"2026-01-31T10:00:00Z")";

template <typename Decode>
auto from_json(Decode decode, std::string_view more_meta, std::string_view rest) {
  json::Reader reader;
  return decode(*reader.parse("{" + std::string(kMeta) + std::string(more_meta) + "}," + std::string(rest) + "}"));
}

template <typename Decode>
auto from_message(Decode decode, const json::Schema& schema, const WrittenMessage& object) {
  json::Reader reader;
  return decode(*reader.parse(object.bytes(), schema));
}

TEST(Messages, a_service_is_the_same) {
  WrittenMessage ingress;
  ingress.message(1, WrittenMessage().text(1, "203.0.113.9").text(2, "").text(3, "Proxy"));
  ingress.message(1, WrittenMessage().text(1, "").text(2, "lb.example"));
  WrittenMessage object = message(1, meta_of("web"));
  object.message(
      2, WrittenMessage().text(3, "10.96.1.50").text(4, "LoadBalancer").text(18, "10.96.1.50").text(18, "fd00::50"));
  object.message(3, message(1, ingress));
  const auto wanted = from_json(decode_service, "",
                                R"("spec":{"type":"LoadBalancer","clusterIP":"10.96.1.50",)"
                                R"("clusterIPs":["10.96.1.50","fd00::50"]},"status":{"loadBalancer":{"ingress":)"
                                R"([{"ip":"203.0.113.9","ipMode":"Proxy"},{"hostname":"lb.example"}]}})");
  EXPECT_EQ(from_message(decode_service, Service::kMessage, object).value(), wanted.value());
  EXPECT_EQ(wanted->hostnames, 1U);
  EXPECT_EQ(wanted->proxied_vips.size(), 1U);
}

TEST(Messages, an_old_service_without_a_list_of_addresses_is_the_same) {
  WrittenMessage object = message(1, meta_of("web"));
  object.message(2, WrittenMessage().text(3, "10.96.1.50").text(4, "ClusterIP"));
  EXPECT_EQ(from_message(decode_service, Service::kMessage, object).value(),
            from_json(decode_service, "", R"("spec":{"type":"ClusterIP","clusterIP":"10.96.1.50"})").value());
}

TEST(Messages, a_node_is_the_same) {
  WrittenMessage object = message(1, meta_of("web").entry(11, "zone", "a"));
  object.message(2, WrittenMessage().text(1, "10.244.0.0/24").text(7, "10.244.0.0/24").text(7, "fd01::/64"));
  WrittenMessage status;
  status.message(5, WrittenMessage().text(1, "InternalIP").text(2, "192.0.2.7"));
  status.message(5, WrittenMessage().text(1, "Hostname").text(2, "web"));
  status.message(5, WrittenMessage().text(1, "InternalIP").text(2, ""));  // Of a simulator; no reason to lose the Node.
  object.message(3, status.message(7, WrittenMessage().text(1, "m").text(3, "boot")));
  const auto wanted =
      from_json(decode_node, R"(,"labels":{"zone":"a"})",
                R"("spec":{"podCIDR":"10.244.0.0/24","podCIDRs":["10.244.0.0/24","fd01::/64"]},"status":{"addresses":)"
                R"([{"type":"InternalIP","address":"192.0.2.7"},{"type":"Hostname","address":"web"},)"
                R"({"type":"InternalIP","address":""}],"nodeInfo":{"machineID":"m","bootID":"boot"}})");
  EXPECT_EQ(from_message(decode_node, Node::kMessage, object).value(), wanted.value());
  EXPECT_EQ(wanted->boot_id, "boot");
  EXPECT_EQ(wanted->meta.labels.get("zone"), "a");
}

TEST(Messages, a_pod_is_the_same) {
  WrittenMessage object = message(1, meta_of("web")
                                         .message(9, WrittenMessage().number(1, 1'769'853'601))
                                         .entry(11, "app.kubernetes.io/name", "ip-rule-operator"));
  WrittenMessage status;
  status.message(2, WrittenMessage().text(1, "PodScheduled").text(2, "True"));
  status.message(2, WrittenMessage().text(1, "Ready").text(2, "True"));
  object.message(2, WrittenMessage().text(10, "node-a")).message(3, status);
  const auto wanted =
      from_json(decode_pod,
                R"(,"deletionTimestamp":"2026-01-31T10:00:01Z","labels":{"app.kubernetes.io/name":"ip-rule-operator"})",
                R"("spec":{"nodeName":"node-a"},"status":{"conditions":)"
                R"([{"type":"PodScheduled","status":"True"},{"type":"Ready","status":"True"}]})");
  EXPECT_EQ(from_message(decode_pod, Pod::kMessage, object).value(), wanted.value());
  EXPECT_TRUE(wanted->is_ready && wanted->reports && wanted->meta.terminating());
}

TEST(Messages, an_endpoint_slice_is_the_same) {
  const auto endpoint = [](std::string_view address, std::optional<bool> ready) {
    WrittenMessage conditions;
    if (ready) conditions.number(1, *ready ? 1 : 0);
    return WrittenMessage().text(1, address).message(2, conditions).text(3, "").text(6, "node-a");
  };
  WrittenMessage object = message(1, meta_of("web").entry(11, "kubernetes.io/service-name", "front"));
  object.message(2, endpoint("10.0.0.1", true)).message(2, endpoint("10.0.0.2", false));
  object.message(2, endpoint("10.0.0.3", std::nullopt)).text(4, "IPv4");
  const auto wanted = from_json(decode_endpoint_slice, R"(,"labels":{"kubernetes.io/service-name":"front"})",
                                R"("addressType":"IPv4","endpoints":[)"
                                R"({"addresses":["10.0.0.1"],"conditions":{"ready":true},"nodeName":"node-a"},)"
                                R"({"addresses":["10.0.0.2"],"conditions":{"ready":false},"nodeName":"node-a"},)"
                                R"({"addresses":["10.0.0.3"],"conditions":{},"nodeName":"node-a"}])");
  EXPECT_EQ(from_message(decode_endpoint_slice, EndpointSlice::kMessage, object).value(), wanted.value());
  EXPECT_EQ(wanted->ready.size(), 2U);
  EXPECT_EQ(wanted->service, "front");
}

}  // namespace
}  // namespace api
