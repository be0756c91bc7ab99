#include "intent/cluster/agent_status.h"

#include <fmt/format.h>

#include "intent/cluster/active_agent.h"
#include "intent/cluster/agent_template.h"
#include "meta/condition.h"

namespace intent {
namespace {

using api::Agent;
using api::DaemonSet;

constexpr std::string_view kInvalidName = "InvalidName";

struct Verdict {
  bool ready = false;
  std::string reason;
  std::string message;
};

std::string labels_text(const meta::Labels& selector) {
  return selector.empty() ? "any labels" : selector.text();
}

// Pod Security names the level it enforces; OpenShift names its constraints.
std::string cure_for_forbidden(const std::string& message, const std::string& ns) {
  if (message.contains("PodSecurity")) {
    return fmt::format(
        "allow host networking: kubectl label namespace {} pod-security.kubernetes.io/enforce=privileged "
        "--overwrite",
        ns);
  }
  if (message.contains("security context constraint")) {
    return fmt::format("allow it: oc adm policy add-scc-to-user iprule-agent-scc -z {} -n {}", kAgentName, ns);
  }
  return fmt::format("see kubectl describe daemonset {} -n {}", kAgentName, ns);
}

// The agent's port is one of the node's own, for it is on the host's network.
std::string_view cure_for_no_place(const std::string& message) {
  if (message.contains("free ports")) return "give spec.metricsBindAddress another port, or \"0\" for none";
  return "make room on the node, or ask for less in spec.resources";
}

// The first cause that applies: each hides the next.
std::optional<Verdict> obstacle(const Agent& agent, const RolloutFacts& facts) {
  const std::string& ns = agent.meta.ns;
  if (facts.not_prepared) {
    return Verdict{.reason = "NamespaceNotPrepared",
                   .message = fmt::format("the controller may not run agents in namespace {}; prepare it: {}", ns,
                                          *facts.not_prepared)};
  }
  if (facts.foreign_set) {
    return Verdict{.reason = "NameTaken",
                   .message = fmt::format("DaemonSet {}/{} belongs to {}; rename or delete it", ns, kAgentName,
                                          *facts.foreign_set)};
  }
  if (facts.not_allowed) {
    return Verdict{.reason = facts.not_allowed->contains("image") ? "ImageNotAllowed" : "PolicyRefused",
                   .message = fmt::format("a policy refuses the agents: {}; correct the Agent's spec, or the policy",
                                          *facts.not_allowed)};
  }
  if (facts.invalid) {
    return Verdict{.reason = "InvalidSpec",
                   .message = fmt::format("the DaemonSet is refused: {}; correct the Agent's spec", *facts.invalid)};
  }
  if (facts.account_missing) {
    return Verdict{
        .reason = "ServiceAccountMissing",
        .message = fmt::format("pods cannot start without their account: kubectl create serviceaccount {} -n {}",
                               kAgentName, ns)};
  }
  if (facts.pods_forbidden) {
    return Verdict{
        .reason = "PodsForbidden",
        .message = fmt::format("{}; {}", *facts.pods_forbidden, cure_for_forbidden(*facts.pods_forbidden, ns))};
  }
  return std::nullopt;
}

// Why pods that are there do not run, those that no waiting cures first.
std::optional<Verdict> standstill(const Agent& agent, const RolloutFacts& facts) {
  const std::string& ns = agent.meta.ns;
  if (facts.image_error) {
    return Verdict{
        .reason = "ImagePullError",
        .message = fmt::format("{}; correct spec.image, or the node's access to the registry", *facts.image_error)};
  }
  if (facts.crashing) {
    return Verdict{
        .reason = "PodsCrashing",
        .message = fmt::format("{}; see kubectl logs --previous -n {} -l app={}", *facts.crashing, ns, kAgentName)};
  }
  if (facts.no_place) {
    return Verdict{.reason = "PodsPending",
                   .message = fmt::format("{}; {}", *facts.no_place, cure_for_no_place(*facts.no_place))};
  }
  if (facts.silent_node) {
    return Verdict{
        .reason = "NodesNotReady",
        .message = fmt::format("{}; see kubectl get nodes. What it had programmed stays", *facts.silent_node)};
  }
  return std::nullopt;
}

Verdict judge(const Agent& agent, const DaemonSet* set, const RolloutFacts& facts) {
  if (auto found = obstacle(agent, facts)) return *std::move(found);
  if (set == nullptr) return {.reason = "Progressing", .message = "the DaemonSet is not there yet"};
  const DaemonSet::Status& now = set->status;
  if (now.observed_generation >= set->meta.generation && now.desired == 0) {
    return {.reason = "NoMatchingNodes",
            .message = fmt::format("no node has {} and no taint beyond spec.tolerations; label nodes, or change "
                                   "spec.nodeSelector or spec.tolerations",
                                   labels_text(agent.spec.node_selector))};
  }
  if (all_ready(*set))
    return {.ready = true, .reason = "AllReady", .message = fmt::format("All {} pods ready", now.ready)};
  if (auto found = standstill(agent, facts)) return *std::move(found);
  return {.reason = "Progressing",
          .message = fmt::format("Desired={} Current={} Ready={} Updated={}", now.desired, now.current, now.ready,
                                 now.updated)};
}

Agent::Status status_of(const Agent& agent, SeenSet set, const Verdict& verdict, meta::Time now) {
  Agent::Status out = agent.status;
  out.observed_generation = agent.meta.generation;
  if (set) {
    const DaemonSet::Status figures = *set != nullptr ? (*set)->status : DaemonSet::Status();
    out.desired = figures.desired;
    out.current = figures.current;
    out.ready = figures.ready;
  }
  meta::set(out.conditions,
            {.type = "Ready",
             .status = verdict.ready ? meta::Truth::yes : meta::Truth::no,
             .observed_generation = agent.meta.generation,
             .last_transition = {},
             .reason = verdict.reason,
             .message = verdict.message},
            now);
  return out;
}

// Said only where it is certain: that the server knows policies does not mean that ours are there.
void set_isolation(Agent::Status& status, const Agent& agent, bool lacks_policies, meta::Time now) {
  constexpr std::string_view kType = "NodeIsolation";
  if (!lacks_policies) {
    std::erase_if(status.conditions, [&](const meta::Condition& one) { return one.type == kType; });
    return;
  }
  meta::set(status.conditions,
            {.type = std::string(kType),
             .status = meta::Truth::no,
             .observed_generation = agent.meta.generation,
             .last_transition = {},
             .reason = "NoAdmissionPolicies",
             .message = "Kubernetes before 1.30 has no ValidatingAdmissionPolicy, so the token of one node's agent can "
                        "write the report of every node; everything else works. Kubernetes 1.30 or newer keeps them "
                        "apart, with the policies of the install applied again"},
            now);
}

}  // namespace

bool all_ready(const DaemonSet& set) {
  const DaemonSet::Status& now = set.status;
  return now.observed_generation >= set.meta.generation && now.desired > 0 && now.updated == now.desired &&
         now.ready == now.desired;
}

Agent::Status active_status(const Agent& agent, SeenSet set, const RolloutFacts& facts, meta::Time now) {
  Agent::Status out = status_of(agent, set, judge(agent, set.value_or(nullptr), facts), now);
  set_isolation(out, agent, facts.lacks_policies, now);
  return out;
}

Agent::Status inactive_status(const Agent& agent, const Agent* active, SeenSet set, meta::Time now) {
  if (agent.meta.name != "agent" && agent.meta.name != "default") {
    return status_of(
        agent, set,
        {.reason = std::string(kInvalidName), .message = "an Agent is called agent; create one of that name"}, now);
  }
  const std::string which = active != nullptr ? meta::full_name(active->meta) : "another";
  return status_of(
      agent, set,
      {.reason = std::string(kInactiveInstance),
       .message = fmt::format("one Agent counts in a cluster, and that is {}; delete one of the two", which)},
      now);
}

bool may_have_pods(const Agent& agent) {
  const auto* ready = meta::find(agent.status.conditions, "Ready");
  const bool counts = ready == nullptr || (ready->reason != kInactiveInstance && ready->reason != kInvalidName);
  return counts || agent.status.desired > 0 || agent.status.current > 0 || agent.status.ready > 0;
}

}  // namespace intent
