#include "cli/cluster.h"

#include <memory>

#include <fmt/format.h>

#include "api/kinds.h"
#include "base/version.h"
#include "json/reader.h"
#include "kube/client.h"
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
    if (gave_up_) return;
    const auto text = client_.list(resource, {}, kube::within(timeout_));
    if (!text) return miss(resource.text(), text.error());
    json::Reader reader;
    const auto root = reader.parse(*text);
    if (!root) return miss(resource.text(), root.error());
    const auto items = (*root)["items"].items_or_none();
    if (!items) return miss(resource.text(), items.error());
    for (const json::Value& item : *items) {
      auto object = decode(item.as_root());
      if (object) {
        into.push_back(*std::move(object));
      } else {
        miss(resource.text(), object.error());
      }
    }
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

base::Result<std::unique_ptr<kube::Client>> connect(const ClusterOptions& options) {
  const auto config = TRY(kube::load_config(options.kubeconfig, options.context, kube::Environment::of_process()));
  return kube::Client::connect(config, {.user_agent = "iprulectl/" + std::string(base::version())});
}

}  // namespace

base::Result<ClusterFacts> read_cluster(const ClusterOptions& options) {
  const auto client = TRY(connect(options));
  ClusterFacts facts;
  Reading reading(*client, options.timeout);
  reading.list(facts.agents, &api::decode_agent);
  reading.list(facts.rules, &api::decode_iprule);
  reading.list(facts.configs, &api::decode_iprule_config);
  reading.list(facts.nodes, &api::decode_node_state);
  reading.find_leader(facts);
  facts.gaps = std::move(reading).gaps();
  return facts;
}

base::Result<ClusterObjects> read_objects(const ClusterOptions& options) {
  const auto client = TRY(connect(options));
  ClusterObjects objects;
  Reading reading(*client, options.timeout);
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

}  // namespace cli
