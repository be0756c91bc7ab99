#include "controller/cluster_watch.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/clock.h"
#include "controller/resources.h"
#include "intent/cluster/agent_status.h"

namespace controller {

ClusterWatch::ClusterWatch(kube::Client& client, runtime::Signal& changed)
    : client_(client),
      changed_(changed),
      rules_(client, resource_of<api::IPRule>(), api::decode_iprule, changed),
      services_(client, {.group = "", .version = "v1", .plural = "services"}, api::decode_service, changed, {},
                api::same_addresses),
      nodes_(client, kNodes, api::decode_node, changed, {}, api::same_place),
      agents_(client, resource_of<api::Agent>(true), api::decode_agent, changed),
      configs_(client, resource_of<api::IPRuleConfig>(), api::decode_iprule_config, changed),
      states_(client, resource_of<api::NodeState>(), api::decode_node_state, changed),
      pods_(client, changed),
      on_demand_(std::vector<WatchState>{{.resource = "endpointslices", .is_synced = true},
                                         {.resource = "pods", .is_synced = true}}) {}

std::optional<std::string> ClusterWatch::waiting_for() const {
  return first_of({incomplete("iprules", *rules_.latest()), incomplete("services", *services_.latest()),
                   incomplete("nodes", *nodes_.latest()), incomplete("agents", *agents_.latest()),
                   incomplete("ipruleconfigs", *configs_.latest()), incomplete("nodestates", *states_.latest())});
}

std::vector<std::string> ClusterWatch::resources() {
  return {"iprules", "services", "nodes", "agents", "ipruleconfigs", "nodestates", "endpointslices", "pods"};
}

std::vector<WatchState> ClusterWatch::watches() const {
  std::vector<WatchState> out;
  const auto add = [&](const char* resource, const auto& reflector) {
    out.push_back(state_of(resource, *reflector.latest(), reflector.heard_at()));
  };
  add("iprules", rules_);
  add("services", services_);
  add("nodes", nodes_);
  add("agents", agents_);
  add("ipruleconfigs", configs_);
  add("nodestates", states_);
  const auto more = on_demand_.read([](const auto& states) { return states; });
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

// What is not needed is as good as there.
void ClusterWatch::note_on_demand(const ClusterSeen& seen) {
  const base::TimePoint now = base::SteadyClock().now();
  const auto slices = state_of("endpointslices", *seen.slices.view, slices_ ? slices_->heard_at() : now);
  WatchState pods{.resource = "pods", .is_synced = true, .heard_at = now};
  for (const auto& [ns, view] : seen.pod_views) {
    const auto one = state_of(fmt::format("pods in {}", ns), *view, now);
    pods.is_synced = pods.is_synced && one.is_synced;
    pods.is_denied = pods.is_denied || one.is_denied;
    if (one.trouble) pods.trouble = one.trouble;
  }
  on_demand_.change([&](std::vector<WatchState>& states) { states = {slices, pods}; });
}

std::shared_ptr<const kube::View<api::EndpointSlice>> ClusterWatch::look_at_slices(
    const std::vector<const api::IPRule*>& rules) {
  const auto asks = [](const api::IPRule* rule) {
    return std::ranges::any_of(rule->spec.source.modes, [](api::SourceMode mode) {
      return mode == api::SourceMode::endpoints || mode == api::SourceMode::local_endpoints;
    });
  };
  if (std::ranges::none_of(rules, asks)) {
    slices_.reset();
    auto none = std::make_shared<kube::View<api::EndpointSlice>>();
    none->complete = true;
    return none;
  }
  if (!slices_) {
    const kube::Resource resource{.group = "discovery.k8s.io", .version = "v1", .plural = "endpointslices"};
    slices_ = std::make_unique<Slices>(client_, resource, api::decode_endpoint_slice, changed_, kube::Selection(),
                                       api::same_endpoints);
  }
  return slices_->latest();
}

namespace {

// A name space whose pods we never had the right to list, and all of whose Agents say that none is theirs. To wait for
// what may run there would hold up every removal, for ever: no right comes by waiting. Without the right none of ours
// was rolled out there, for the same role grants both. Where it was taken away, an Agent's figures stay as they were
// when it was; and a node whose agent has been seen once has its NodeState, which is waited for wherever that runs.
bool is_no_place(const kube::View<api::Pod>& pods, std::string_view ns, const ClusterSeen::Kind<api::Agent>& agents) {
  if (pods.complete || !pods.trouble || pods.trouble->fault() != base::Fault::denied) return false;
  return std::ranges::none_of(
      agents.objects, [&](const api::Agent* agent) { return agent->meta.ns == ns && intent::may_have_pods(*agent); });
}

}  // namespace

std::optional<ClusterSeen> ClusterWatch::look() {
  if (waiting_for()) return std::nullopt;
  const auto rules = rules_.latest();
  // Reports after the objects they speak of: a report never claims more than the objects seen with it can show.
  ClusterSeen out{.rules = ClusterSeen::Kind(rules),
                  .services = ClusterSeen::Kind(services_.latest()),
                  .nodes = ClusterSeen::Kind(nodes_.latest()),
                  .agents = ClusterSeen::Kind(agents_.latest()),
                  .configs = ClusterSeen::Kind(configs_.latest()),
                  .states = ClusterSeen::Kind(states_.latest()),
                  .slices = ClusterSeen::Kind(look_at_slices(ClusterSeen::Kind(rules).objects)),
                  .pod_views = {},
                  .pods = {},
                  .unseen_agents = {},
                  .unread_reports = {},
                  .unread_configs = {}};
  std::set<std::string> name_spaces;
  for (const api::Agent* agent : out.agents.objects) name_spaces.insert(agent->meta.ns);
  pods_.follow(name_spaces);
  out.pod_views = pods_.latest();
  std::erase_if(out.pod_views, [&](const auto& entry) { return is_no_place(*entry.second, entry.first, out.agents); });
  for (const auto& [ns, view] : out.pod_views) {
    for (const auto& pod : view->objects) out.pods.push_back(&pod->value);
    if (!view->complete || !view->unknown.empty())
      out.unseen_agents.push_back(fmt::format("agents in name space {}", ns));
  }
  for (const auto& [key, reason] : out.states.view->unknown) {
    out.unread_reports.push_back(fmt::format("report of node {}", key.name));
  }
  for (const auto& [key, reason] : out.configs.view->unknown) out.unread_configs.push_back(key.name);
  note_on_demand(out);
  return out;
}

}  // namespace controller
