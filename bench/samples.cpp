#include "bench/samples.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace bench {
namespace {

// In the range from which a cluster of the testbed gives them, behind the API server's own.
std::string cluster_ip(std::uint32_t i) {
  return sample_address(10, (96U << 16U) + 16 + i);
}

}  // namespace

std::string sample_address(std::uint32_t first, std::uint32_t i) {
  return fmt::format("{}.{}.{}.{}", first, (i >> 16U) & 255U, (i >> 8U) & 255U, i & 255U);
}

std::string sample_address6(std::uint32_t i) {
  return fmt::format("2001:db8::{:x}:{:x}", i >> 16U, i & 0xffffU);
}

state::NetState many_rules(std::uint32_t count) {
  state::NetState out;
  out.rules.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::array<std::byte, 4> raw = {std::byte{10}, static_cast<std::byte>(i >> 16U),
                                          static_cast<std::byte>(i >> 8U), static_cast<std::byte>(i)};
    state::Rule rule{.priority = 1000, .protocol = 183, .table = 100};
    rule.selector.from = net::Prefix::host(net::Address::from_bytes(raw).value());
    out.rules.push_back(rule);
  }
  return out;
}

state::NetState many_marks(std::uint32_t count) {
  state::NetState out{.nft = state::NftTable{.window = kMarkWindow, .classes = {{kMark, {}}}}};
  const state::NetState as_rules = many_rules(count);
  for (const state::Rule& rule : as_rules.rules) out.nft->sources.emplace(rule.selector.from->address(), kMark);
  out.rules = {{.priority = 1000,
                .selector = {.mark = state::Mark{.value = kMark, .mask = kMarkWindow}},
                .protocol = 183,
                .table = 100}};
  return out;
}

std::string service_json(std::uint32_t i) {
  const std::string ip = cluster_ip(i);
  return fmt::format(
      R"({{"kind":"Service","apiVersion":"v1","metadata":{{"name":"web-{0}","namespace":"shop","uid":"8a0f1c7e-0000-4000-8000-{0:012}","resourceVersion":"{1}","creationTimestamp":"2026-01-01T12:00:00Z",)"
      R"("labels":{{"app.kubernetes.io/name":"web","app.kubernetes.io/instance":"web-{0}","team":"shop"}},"annotations":{{"metallb.universe.tf/address-pool":"public","description":"the shop's front, number {0}"}},)"
      R"("managedFields":[{{"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"v1","time":"2026-01-01T12:00:00Z","fieldsType":"FieldsV1","fieldsV1":{{"f:spec":{{"f:ports":{{".":{{}},"k:{{\"port\":443,\"protocol\":\"TCP\"}}":{{".":{{}},"f:port":{{}}}}}},"f:selector":{{}},"f:type":{{}}}}}}}}]}},)"
      R"("spec":{{"ports":[{{"name":"https","protocol":"TCP","port":443,"targetPort":8443,"nodePort":31443}}],"selector":{{"app":"web-{0}"}},"clusterIP":"{2}","clusterIPs":["{2}"],"type":"LoadBalancer","sessionAffinity":"None","externalTrafficPolicy":"Cluster","ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","allocateLoadBalancerNodePorts":true,"internalTrafficPolicy":"Cluster"}},)"
      R"("status":{{"loadBalancer":{{"ingress":[{{"ip":"{3}","ipMode":"VIP"}}]}}}}}})",
      i, 1000 + i, ip, sample_address(100, i));
}

json::WrittenMessage service_message(std::uint32_t i) {
  using json::WrittenMessage;
  const std::string ip = cluster_ip(i);
  const std::string name = fmt::format("web-{}", i);
  const WrittenMessage time = WrittenMessage().number(1, 1'767'268'800).number(2, 0);
  WrittenMessage managed;
  managed.text(1, "kubectl-client-side-apply").text(2, "Update").text(3, "v1").message(4, time).text(6, "FieldsV1");
  managed.message(
      7,
      WrittenMessage().text(
          1,
          R"({"f:spec":{"f:ports":{".":{},"k:{\"port\":443,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}},"f:selector":{},"f:type":{}}})"));
  WrittenMessage meta;
  meta.text(1, name).text(2, "").text(3, "shop").text(4, "").text(5, fmt::format("8a0f1c7e-0000-4000-8000-{:012}", i));
  meta.text(6, std::to_string(1000 + i)).number(7, 0).message(8, time).entry(11, "app.kubernetes.io/instance", name);
  meta.entry(11, "app.kubernetes.io/name", "web").entry(11, "team", "shop");
  meta.entry(12, "description", fmt::format("the shop's front, number {}", i));
  meta.entry(12, "metallb.universe.tf/address-pool", "public").message(17, managed);
  WrittenMessage port;
  port.text(1, "https").text(2, "TCP").number(3, 443).message(4, WrittenMessage().number(1, 0).number(2, 8443));
  WrittenMessage spec;
  spec.message(1, port.number(5, 31443)).entry(2, "app", name).text(3, ip).text(4, "LoadBalancer").text(7, "None");
  spec.text(8, "").text(10, "").text(11, "Cluster").number(12, 0).number(13, 0).text(17, "SingleStack").text(18, ip);
  spec.text(19, "IPv4").number(20, 1).text(22, "Cluster");
  WrittenMessage ingress;
  ingress.text(1, sample_address(100, i)).text(2, "").text(3, "VIP");
  const WrittenMessage balancer = WrittenMessage().message(1, ingress);
  return WrittenMessage().message(1, meta).message(2, spec).message(3, WrittenMessage().message(1, balancer));
}

intent::Sample many_services(std::uint32_t services, std::uint32_t rules) {
  intent::Sample out;
  for (std::uint32_t i = 0; i < rules; ++i) {
    // Every eighth is a wide one, so that most addresses lie in several.
    const auto cidr = i % 8 == 0 ? fmt::format("{}/16", sample_address(100, i << 12U))
                                 : fmt::format("{}/24", sample_address(100, i << 8U));
    out.rule(fmt::format("rule-{}", i), {cidr}, 100 + i % 10, 1000 + i % 3);
  }
  for (std::uint32_t i = 0; i < services; ++i) {
    out.service(fmt::format("web-{}", i), {cluster_ip(i)}, {sample_address(100, i * 7)});
  }
  return out;
}

}  // namespace bench
