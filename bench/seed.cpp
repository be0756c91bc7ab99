#include "bench/seed.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/iprule.h"
#include "api/kinds.h"
#include "api/node_state.h"
#include "lab/kubernetes/pki.h"
#include "testbed/http.h"

namespace bench {
namespace {

// As many as etcd takes in one transaction.
constexpr std::size_t kBatch = 128;

// The encoders leave to the server what the server sets; here nobody else does.
std::string as_stored(std::string object) {
  constexpr std::string_view kMeta = R"("metadata":{)";
  const auto at = object.find(kMeta);
  object.insert(at + kMeta.size(), R"("generation":1,"creationTimestamp":"2026-01-01T12:00:00Z",)");
  return object;
}

std::string key_of(std::string_view plural, std::string_view name) {
  return fmt::format("/registry/{}/{}/{}", api::kGroup, plural, name);
}

std::string encode(const api::Service& service) {
  const std::string ip = service.cluster_ips.at(0).text();
  return as_stored(fmt::format(
      R"({{"apiVersion":"v1","kind":"Service","metadata":{{"name":"{}","namespace":"{}","uid":"{}"}},)"
      R"("spec":{{"type":"LoadBalancer","clusterIP":"{}","clusterIPs":["{}"],"ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack",)"
      R"("allocateLoadBalancerNodePorts":false,"sessionAffinity":"None","ports":[{{"protocol":"TCP","port":80,"targetPort":80}}]}},)"
      R"("status":{{"loadBalancer":{{"ingress":[{{"ip":"{}","ipMode":"VIP"}}]}}}}}})",
      service.meta.name, service.meta.ns, service.meta.uid, ip, ip, service.vips.at(0).text()));
}

// Without it the API server would mend the record of who has which address, one by one.
std::string encode_address(const api::Service& service) {
  return as_stored(fmt::format(
      R"({{"apiVersion":"networking.k8s.io/v1","kind":"IPAddress","metadata":{{"name":"{0}","uid":"ip-{0}","labels":{{)"
      R"("ipaddress.kubernetes.io/ip-family":"IPv4","ipaddress.kubernetes.io/managed-by":"ipallocator.k8s.io"}}}},)"
      R"("spec":{{"parentRef":{{"resource":"services","namespace":"{1}","name":"{2}"}}}}}})",
      service.cluster_ips.at(0).text(), service.meta.ns, service.meta.name));
}

}  // namespace

std::string node_name(std::uint32_t i) {
  return fmt::format("node-{}", i);
}

void Seed::add(std::string key, std::string object) {
  if (known_.insert(key).second) waiting_.emplace_back(std::move(key), std::move(object));
}

base::Status Seed::put(const intent::SmallCluster& world) {
  for (const api::Service* service : world.wishes.services()) {
    add(fmt::format("/registry/ipaddresses/{}", service->cluster_ips.at(0).text()), encode_address(*service));
    add(fmt::format("/registry/services/specs/{}/{}", service->meta.ns, service->meta.name), encode(*service));
  }
  for (const api::IPRule* rule : world.wishes.rules()) {
    add(key_of(api::IPRule::kPlural, rule->meta.name), as_stored(api::encode(*rule)));
  }
  for (const auto& [name, stored] : world.server.configs) {
    api::IPRuleConfig config = stored;
    config.meta.resource_version.clear();
    add(key_of(api::IPRuleConfig::kPlural, name), as_stored(api::encode(config)));
  }
  return send();
}

base::Status Seed::put_nodes(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t i = first; i < first + count; ++i) {
    const std::string name = node_name(i);
    add("/registry/minions/" + name,
        as_stored(
            fmt::format(R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{0}","uid":"uid-{0}"}}}})", name)));
    add("/registry/pods/default/agent-" + name,
        as_stored(fmt::format(
            R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"agent-{0}","namespace":"default","uid":"uid-agent-{0}",)"
            R"("labels":{{"app":"iprule-agent","app.kubernetes.io/name":"ip-rule-operator"}}}},)"
            R"("spec":{{"nodeName":"{0}","containers":[{{"name":"agent","image":"agent"}}]}},)"
            R"("status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"True"}}]}}}})",
            name)));
  }
  return send();
}

base::Status Seed::put_reports(std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i) {
    api::NodeState state;
    state.meta.name = node_name(static_cast<std::uint32_t>(i));
    state.meta.uid = "uid-" + state.meta.name;
    state.spec = {.token = "t", .cluster_prefixes = {"10.0.0.0/8"}, .nodes = count};
    add(key_of(api::NodeState::kPlural, state.meta.name), as_stored(api::encode(state)));
  }
  return send();
}

base::Status Seed::send() {
  for (std::size_t at = 0; at < waiting_.size(); at += kBatch) {
    std::vector<std::string> puts;
    for (const auto& [key, object] : std::span(waiting_).subspan(at, std::min(kBatch, waiting_.size() - at))) {
      puts.push_back(
          fmt::format(R"({{"requestPut":{{"key":"{}","value":"{}"}}}})", lab::base64(key), lab::base64(object)));
    }
    const auto answer = TRY(testbed::ask({.port = cluster_.etcd_port()}, "/v3/kv/txn",
                                         fmt::format(R"({{"success":[{}]}})", fmt::join(puts, ","))));
    if (answer.status != 200) return base::fail(base::Fault::unavailable, "etcd: " + answer.body);
  }
  waiting_.clear();
  return {};
}

}  // namespace bench
