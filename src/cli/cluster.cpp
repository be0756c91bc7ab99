#include "cli/cluster.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/kinds.h"
#include "api/pod.h"
#include "base/version.h"
#include "cli/agent_pod.h"
#include "cli/agent_run.h"
#include "cli/controller_facts.h"
#include "json/reader.h"
#include "kube/config.h"
#include "kube/lease.h"
#include "meta/time.h"

namespace cli {
namespace {

const kube::Resource kDeployments{.group = "apps", .version = "v1", .plural = "deployments"};

kube::Resource ours(std::string_view plural) {
  return {std::string(api::kGroup), std::string(api::kVersion), std::string(plural), false};
}

class Reading {
 public:
  Reading(kube::Client& client, std::chrono::seconds timeout) : client_(client), timeout_(timeout) {}

  // Of our own kinds; Agents, which have a name space, are listed in all of them.
  template <typename Kind>
  void list(std::vector<Kind>& into, base::Result<Kind> (*decode)(const json::Value&)) {
    list(ours(Kind::kPlural), into, decode);
  }

  template <typename Kind>
  void list(const kube::Resource& resource, std::vector<Kind>& into, base::Result<Kind> (*decode)(const json::Value&),
            const std::string& labels = "") {
    take(resource, labels, [&](const json::Value& root) -> base::Status {
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

  // The same of a kind that may not be installed: that is an answer, and no gap.
  template <typename Kind>
  void list(std::vector<Kind>& into, base::Result<Kind> (*decode)(const json::Value&),
            std::vector<std::string>& unserved) {
    const std::size_t before = gaps_.size();
    absent_ = false;
    list(into, decode);
    if (!absent_) return;
    gaps_.resize(before);
    unserved.push_back(ours(Kind::kPlural).text());
  }

  // Those with the labels, in all name spaces; nothing where they cannot be listed.
  template <typename Kind>
  std::optional<std::vector<Kind>> find(const kube::Resource& resource, const std::string& labels,
                                        base::Result<Kind> (*decode)(const json::Value&)) {
    const std::size_t before = gaps_.size();
    std::vector<Kind> out;
    list(resource, out, decode, labels);
    if (gave_up_ || gaps_.size() > before) return std::nullopt;
    return out;
  }

  // All objects of a kind, or those with the labels, to `use`.
  template <typename Use>
  void take(const kube::Resource& resource, Use use) {
    take(resource, "", std::move(use));
  }
  template <typename Use>
  void take(const kube::Resource& resource, const std::string& labels, Use use) {
    if (gave_up_) return;
    const auto text = client_.list(resource, {.selection = {.label_selector = labels}}, kube::within(timeout_));
    if (!text) return miss(resource.text(), text.error());
    json::Reader reader;
    const auto root = reader.parse(*text);
    const base::Status used = root ? use(*root) : base::Status(std::unexpected(root.error()));
    if (!used) miss(resource.text(), used.error());
  }

  // Kubernetes' own; empty where it is not told.
  std::string server_version() {
    const auto answer =
        client_.send({.method = "GET", .target = "/version", .headers = {}, .body = {}}, kube::within(timeout_));
    if (!answer) return miss("version", answer.error()), "";
    json::Reader reader;
    const auto root = reader.parse(answer->body);
    const auto version = root ? (*root)["gitVersion"].string_or("") : std::unexpected(root.error());
    if (!version) return miss("version", version.error()), "";
    return std::string(*version);
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

  // The controllers' Lease, in whatever name space they were installed.
  void find_leader(ControllerFacts& facts) {
    if (gave_up_) return;
    const kube::Resource leases{"coordination.k8s.io", "v1", "leases", true};
    const auto text =
        client_.list(leases, {.selection = {.field_selector = std::string("metadata.name=") + kControllerLease}},
                     kube::within(timeout_));
    if (!text) return miss(leases.text(), text.error());
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
    facts.is_lease_known = true;
  }

  // What was missed since the last time.
  std::vector<std::string> take_gaps() { return std::exchange(gaps_, {}); }

 private:
  void miss(const std::string& what, const base::Error& error) {
    gaps_.push_back(fmt::format("{}: {}", what, error.message()));
    absent_ = error.fault() == base::Fault::absent;
    // A server that is not there is asked once.
    gave_up_ = error.fault() == base::Fault::unavailable || error.fault() == base::Fault::timeout;
  }

  kube::Client& client_;
  std::chrono::seconds timeout_;
  std::vector<std::string> gaps_;
  bool gave_up_ = false;
  bool absent_ = false;  // The last miss: the server answered that there is no such thing.
};

// Who and what is meant, in kubectl's own words.
std::vector<std::string> kubectl_flags(const ClusterOptions& options) {
  std::vector<std::string> out;
  const auto add = [&](std::string_view flag, const std::string& value) {
    if (!value.empty()) out.push_back(fmt::format("--{}={}", flag, value));
  };
  add("kubeconfig", options.kubeconfig.native());
  add("context", options.context);
  add("cluster", options.cluster);
  add("user", options.user);
  add("as", options.as);
  for (const std::string& group : options.as_groups) add("as-group", group);
  return out;
}

}  // namespace

base::Result<Cluster> Cluster::connect(const ClusterOptions& options) {
  kube::Config config;
  std::unique_ptr<KubectlProxy> proxy;
  auto loaded = kube::load_config(options.kubeconfig, options.context, kube::Environment::of_process(),
                                  {.cluster = options.cluster,
                                   .user = options.user,
                                   .impersonate = {.user = options.as, .groups = options.as_groups}});
  if (options.via == Via::kubectl) {
    proxy = TRY(KubectlProxy::start(kubectl_flags(options), options.timeout));
    config.server = proxy->server();
    if (loaded) config.ns = loaded->ns;  // All that it says to us; kubectl may read more than we can.
  } else {
    config = TRY(std::move(loaded));
  }
  auto client = TRY(kube::Client::connect(config, {.user_agent = "iprulectl/" + std::string(base::version())}));
  return Cluster(std::move(proxy), std::move(client), config.ns, options.timeout);
}

ClusterFacts Cluster::read_facts() {
  ClusterFacts facts;
  Reading reading(*client_, timeout_);
  reading.list(facts.agents, &api::decode_agent, facts.unserved);
  reading.list(facts.rules, &api::decode_iprule, facts.unserved);
  reading.list(facts.configs, &api::decode_iprule_config, facts.unserved);
  reading.list(facts.nodes, &api::decode_node_state, facts.unserved);
  facts.runs = reading.find({"", "v1", "pods", true}, std::string(api::kAgentPodSelector), &decode_agent_run);
  facts.gaps = reading.take_gaps();
  facts.controller.sets = reading.find(kDeployments, kControllerLabels, &decode_controller_set);
  reading.find_leader(facts.controller);
  facts.controller.gaps = reading.take_gaps();
  return facts;
}

ClusterObjects Cluster::read_objects() {
  ClusterObjects objects;
  Reading reading(*client_, timeout_);
  reading.list(objects.wanted.agents, &api::decode_agent);
  reading.list(objects.wanted.rules, &api::decode_iprule);
  reading.list(objects.configs, &api::decode_iprule_config);
  reading.list(objects.reports, &api::decode_node_state);
  reading.list({"", "v1", "services", true}, objects.wanted.services, &api::decode_service);
  reading.list({"", "v1", "nodes", false}, objects.wanted.nodes, &api::decode_node);
  reading.list({"discovery.k8s.io", "v1", "endpointslices", true}, objects.wanted.slices, &api::decode_endpoint_slice);
  objects.gaps = reading.take_gaps();
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
  setup.gaps = reading.take_gaps();
  return setup;
}

ClusterVersions Cluster::read_versions() {
  ClusterVersions out;
  Reading reading(*client_, timeout_);
  out.server = reading.server_version();
  if (const auto sets = reading.find(kDeployments, kControllerLabels, &decode_controller_set)) {
    out.controllers.emplace();
    for (const ControllerSet& set : *sets) out.controllers->push_back(set.version);
  }
  reading.take(ours(api::NodeState::kPlural), [&](const json::Value& root) -> base::Status {
    const auto items = TRY(root["items"].items_or_none());
    out.agents.emplace();
    for (const json::Value& item : items) {
      const auto version = TRY(item["status"]["version"].string_or(""));
      ++(*out.agents)[std::string(version)];
    }
    return {};
  });
  out.gaps = reading.take_gaps();
  return out;
}

std::unique_ptr<FollowedCluster> Cluster::follow(runtime::Signal& changed) {
  return std::make_unique<FollowedCluster>(*client_, changed);
}

std::unique_ptr<FollowedKind<api::NodeState>> Cluster::follow_reports(runtime::Signal& changed) {
  return std::make_unique<FollowedKind<api::NodeState>>(*client_, api::decode_node_state, changed);
}

base::Result<std::vector<kube::Key>> Cluster::select(const kube::Resource& resource, const kube::Selection& selection) {
  const auto text = TRY(client_->list(resource, {.selection = selection}, kube::within(timeout_)));
  json::Reader reader;
  const auto root = TRY(reader.parse(text));
  const auto items = TRY(root["items"].items_or_none());
  std::vector<kube::Key> out;
  for (const json::Value& item : items) {
    const auto ns = TRY(item["metadata"]["namespace"].string_or(""));
    out.push_back({.ns = std::string(ns), .name = std::string(TRY(item["metadata"]["name"].string()))});
  }
  return out;
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
    const api::Agent* agent = agent::active_agent(objects.wanted);
    if (agent == nullptr) return base::fail(base::Fault::absent, "there is no Agent object, so no agent runs there");
    return ask_agent(*client_, agent->meta.ns, node, question, timeout_);
  };
}

}  // namespace cli
