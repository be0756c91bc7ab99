#include "cli/followed_cluster.h"

#include <functional>
#include <string>

#include "api/pod.h"
#include "meta/time.h"

namespace cli {
namespace {

bool same_holder(const kube::Lease& before, const kube::Lease& after) {
  return before.holder == after.holder;
}

template <typename Kind>
bool is_heard(const kube::Reflector<Kind>& objects) {
  const auto view = objects.latest();
  return view->complete || view->trouble;
}

template <typename Kind>
void take(const FollowedKind<Kind>& followed, std::vector<Kind>& into, ClusterFacts& facts) {
  if (followed.is_unserved()) {
    facts.unserved.push_back(followed.name());
  } else {
    followed.take(into, facts.gaps);
  }
}

// Nothing where they have not been listed.
template <typename Kind>
std::optional<std::vector<Kind>> listed(const kube::Reflector<Kind>& objects, const std::string& name,
                                        std::vector<std::string>& gaps) {
  const auto view = objects.latest();
  add_gaps_of(*view, name, gaps);
  if (!view->complete) return std::nullopt;
  std::vector<Kind> out;
  for (const auto& object : view->objects) out.push_back(object->value);
  return out;
}

}  // namespace

FollowedCluster::FollowedCluster(kube::Client& client, runtime::Signal& changed)
    : agents_(client, api::decode_agent, changed),
      rules_(client, api::decode_iprule, changed),
      configs_(client, api::decode_iprule_config, changed),
      nodes_(client, api::decode_node_state, changed),
      runs_(client, {"", "v1", "pods", true}, decode_agent_run, changed,
            {.label_selector = std::string(api::kAgentPodSelector)}, std::equal_to<AgentRun>()),
      controllers_(client, {"apps", "v1", "deployments", true}, decode_controller_set, changed,
                   {.label_selector = kControllerLabels}, std::equal_to<ControllerSet>()),
      leases_(client, {"coordination.k8s.io", "v1", "leases", true}, kube::Lease::decode, changed,
              {.field_selector = std::string("metadata.name=") + kControllerLease}, same_holder) {}

bool FollowedCluster::is_known() const {
  return agents_.is_known() && rules_.is_known() && configs_.is_known() && nodes_.is_known() && is_heard(runs_) &&
         is_heard(controllers_) && is_heard(leases_);
}

ControllerFacts FollowedCluster::controller() const {
  ControllerFacts out;
  out.sets = listed(controllers_, "deployments.apps", out.gaps);
  const auto leases = listed(leases_, "leases.coordination.k8s.io", out.gaps);
  if (!leases) return out;
  out.is_lease_known = true;
  for (const kube::Lease& lease : *leases) {
    out.leader = Leader{.holder = lease.holder, .renewed = meta::parse_time(lease.renewed).value_or(meta::Time())};
  }
  return out;
}

ClusterFacts FollowedCluster::latest() const {
  ClusterFacts facts;
  take(agents_, facts.agents, facts);
  take(rules_, facts.rules, facts);
  take(configs_, facts.configs, facts);
  take(nodes_, facts.nodes, facts);
  facts.runs = listed(runs_, "pods", facts.gaps);
  facts.controller = controller();
  return facts;
}

}  // namespace cli
