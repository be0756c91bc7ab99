#include "cli/followed_cluster.h"

#include <string>

#include "meta/time.h"

namespace cli {
namespace {

bool same_holder(const kube::Lease& before, const kube::Lease& after) {
  return before.holder == after.holder;
}

}  // namespace

FollowedCluster::FollowedCluster(kube::Client& client, runtime::Signal& changed)
    : agents_(client, api::decode_agent, changed),
      rules_(client, api::decode_iprule, changed),
      configs_(client, api::decode_iprule_config, changed),
      nodes_(client, api::decode_node_state, changed),
      leases_(client, {"coordination.k8s.io", "v1", "leases", true}, kube::Lease::decode, changed,
              {.field_selector = std::string("metadata.name=") + kControllerLease}, same_holder) {}

bool FollowedCluster::is_known() const {
  const auto leases = leases_.latest();
  return agents_.is_known() && rules_.is_known() && configs_.is_known() && nodes_.is_known() &&
         (leases->complete || leases->trouble);
}

ClusterFacts FollowedCluster::latest() const {
  ClusterFacts facts;
  agents_.take(facts.agents, facts.gaps);
  rules_.take(facts.rules, facts.gaps);
  configs_.take(facts.configs, facts.gaps);
  nodes_.take(facts.nodes, facts.gaps);
  const auto leases = leases_.latest();
  facts.leader_unknown = !leases->complete;
  for (const auto& object : leases->objects) {
    const kube::Lease& lease = object->value;
    facts.leader = Leader{.holder = lease.holder, .renewed = meta::parse_time(lease.renewed).value_or(meta::Time())};
  }
  return facts;
}

}  // namespace cli
