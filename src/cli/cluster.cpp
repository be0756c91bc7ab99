#include "cli/cluster.h"

#include <fmt/format.h>

#include "api/kinds.h"
#include "base/version.h"
#include "cli/agent_pod.h"
#include "json/reader.h"
#include "kube/config.h"
#include "kube/lease.h"
#include "meta/time.h"

namespace cli {
namespace {

class Reading {
 public:
  Reading(kube::Client& client, std::chrono::seconds timeout) : client_(client), timeout_(timeout) {}

  // Of our own kinds; Agents, which have a name space, are listed in all of them.
  template <typename Kind>
  void list(std::vector<Kind>& into, base::Result<Kind> (*decode)(const json::Value&)) {
    list({std::string(api::kGroup), std::string(api::kVersion), std::string(Kind::kPlural), false}, into, decode);
  }

  template <typename Kind>
  void list(const kube::Resource& resource, std::vector<Kind>& into, base::Result<Kind> (*decode)(const json::Value&)) {
    take(resource, [&](const json::Value& root) -> base::Status {
      const auto items = TRY(root["items"].items_or_none());
      for (const json::Value& item : items) {
        auto object = decode(item.as_root());
        if (object) {
          into.push_back(*std::move(object));
        } else {
          miss(resource.text(), object.error());
        }
      }
      return {};
    });
  }

  // All objects of a kind, to `use`.
  template <typename Use>
  void take(const kube::Resource& resource, Use use) {
    if (gave_up_) return;
    const auto text = client_.list(resource, {}, kube::within(timeout_));
    if (!text) return miss(resource.text(), text.error());
    json::Reader reader;
    const auto root = reader.parse(*text);
    const base::Status used = root ? use(*root) : base::Status(std::unexpected(root.error()));
    if (!used) miss(resource.text(), used.error());
  }

  // Empty where there is none.
  std::string kube_proxy_config() {
    if (gave_up_) return "";
    const kube::Resource configs{"", "v1", "configmaps", true};
    const auto text = client_.get(configs, {.ns = "kube-system", .name = "kube-proxy"}, kube::within(timeout_));
    if (!text && text.error().fault() == base::Fault::absent) return "";
    if (!text) return miss("ConfigMap kube-system/kube-proxy", text.error()), "";
    json::Reader reader;
    const auto root = reader.parse(*text);
    const auto config = root ? (*root)["data"]["config.conf"].string_or("") : std::unexpected(root.error());
    if (!config) return miss("ConfigMap kube-system/kube-proxy", config.error()), "";
    return std::string(*config);
  }

  // Whether the server knows our kinds.
  bool serves_our_kinds() {
    if (gave_up_) return false;
    const auto answer =
        client_.send({.method = "GET", .target = fmt::format("/apis/{}", api::kApiVersion), .headers = {}, .body = {}},
                     kube::within(timeout_));
    if (!answer && answer.error().fault() != base::Fault::absent) miss("our kinds", answer.error());
    return answer.has_value();
  }

  // The controllers' Lease, in whatever name space they were installed. That somebody may not read Leases is common and
  // says nothing about our objects.
  void find_leader(ClusterFacts& facts) {
    if (gave_up_) return;
    const kube::Resource leases{"coordination.k8s.io", "v1", "leases", true};
    const auto text = client_.list(leases, {.selection = {.field_selector = "metadata.name=fed43742.brtrm.dev"}},
                                   kube::within(timeout_));
    if (!text) {
      facts.leader_unknown = true;
      return;
    }
    json::Reader reader;
    const auto root = reader.parse(*text);
    const auto items = root ? (*root)["items"].items_or_none() : std::unexpected(root.error());
    if (!items) return miss(leases.text(), items.error());
    for (const json::Value& item : *items) {
      const auto lease = kube::Lease::decode(item.as_root());
      if (!lease) return miss(leases.text(), lease.error());
      facts.leader =
          Leader{.holder = lease->holder, .renewed = meta::parse_time(lease->renewed).value_or(meta::Time())};
    }
  }

  std::vector<std::string> gaps() && { return std::move(gaps_); }

 private:
  void miss(const std::string& what, const base::Error& error) {
    gaps_.push_back(fmt::format("{}: {}", what, error.message()));
    // A server that is not there is asked once.
    gave_up_ = error.fault() == base::Fault::unavailable || error.fault() == base::Fault::timeout;
  }

  kube::Client& client_;
  std::chrono::seconds timeout_;
  std::vector<std::string> gaps_;
  bool gave_up_ = false;
};

}  // namespace

base::Result<Cluster> Cluster::connect(const ClusterOptions& options) {
  auto config = TRY(kube::load_config(options.kubeconfig, options.context, kube::Environment::of_process(),
                                      {.cluster = options.cluster, .user = options.user}));
  if (!options.as.empty()) config.impersonate = {.user = options.as, .uid = {}, .groups = options.as_groups};
  auto client = TRY(kube::Client::connect(config, {.user_agent = "iprulectl/" + std::string(base::version())}));
  return Cluster(std::move(client), options.timeout);
}

ClusterFacts Cluster::read_facts() {
  ClusterFacts facts;
  Reading reading(*client_, timeout_);
  reading.list(facts.agents, &api::decode_agent);
  reading.list(facts.rules, &api::decode_iprule);
  reading.list(facts.configs, &api::decode_iprule_config);
  reading.list(facts.nodes, &api::decode_node_state);
  reading.find_leader(facts);
  facts.gaps = std::move(reading).gaps();
  return facts;
}

ClusterObjects Cluster::read_objects() {
  ClusterObjects objects;
  Reading reading(*client_, timeout_);
  reading.list(objects.agents, &api::decode_agent);
  reading.list(objects.wanted.rules, &api::decode_iprule);
  reading.list(objects.configs, &api::decode_iprule_config);
  reading.list(objects.reports, &api::decode_node_state);
  reading.list({"", "v1", "services", true}, objects.wanted.services, &api::decode_service);
  reading.list({"", "v1", "nodes", false}, objects.wanted.nodes, &api::decode_node);
  reading.list({"discovery.k8s.io", "v1", "endpointslices", true}, objects.wanted.slices, &api::decode_endpoint_slice);
  objects.gaps = std::move(reading).gaps();
  return objects;
}

ClusterSetup Cluster::read_setup() {
  ClusterSetup setup;
  Reading reading(*client_, timeout_);
  const auto adding = [&](base::Status (*add)(ClusterSetup&, const json::Value&)) {
    return [&setup, add](const json::Value& list) { return add(setup, list); };
  };
  reading.take({"", "v1", "nodes", false}, adding(add_nodes));
  reading.take({"apps", "v1", "daemonsets", true}, adding(add_daemonsets));
  reading.take({"", "v1", "services", true}, adding(add_services));
  setup.proxy_config = reading.kube_proxy_config();
  setup.is_installed = reading.serves_our_kinds();
  setup.gaps = std::move(reading).gaps();
  return setup;
}

base::Result<PodPlace> Cluster::find_pod(const std::string& ns, const std::string& name) {
  const kube::Resource pods{"", "v1", "pods", true};
  const auto text = client_->get(pods, {.ns = ns, .name = name}, kube::within(timeout_));
  if (!text && text.error().fault() == base::Fault::absent) {
    return base::fail(base::Fault::invalid,
                      fmt::format("there is no pod \"{}\" in name space {}; -n names another", name, ns));
  }
  if (!text) return std::unexpected(text.error());
  json::Reader reader;
  const auto root = TRY(reader.parse(*text));
  PodPlace out{.name = name, .addresses = {}, .node = std::string(TRY(root["spec"]["nodeName"].string_or("")))};
  const auto addresses = TRY(root["status"]["podIPs"].items_or_none());
  for (const json::Value& item : addresses) {
    const auto address = TRY(item["ip"].string());
    out.addresses.push_back(TRY(net::Address::parse(address)));
  }
  return out;
}

AskNode Cluster::asker(const ClusterObjects& objects) {
  return [this, &objects](const std::string& node, const Question& question) -> base::Result<Answer> {
    const api::Agent* agent = active_agent(objects);
    if (agent == nullptr) return base::fail(base::Fault::absent, "there is no Agent object, so no agent runs there");
    return ask_agent(*client_, agent->meta.ns, node, question, timeout_);
  };
}

}  // namespace cli
