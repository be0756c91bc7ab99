#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/agent.h"
#include "api/endpoint_slice.h"
#include "api/iprule.h"
#include "api/iprule_config.h"
#include "api/node.h"
#include "api/node_state.h"
#include "api/service.h"
#include "controller/agent_pods.h"
#include "controller/waiting.h"
#include "kube/client.h"
#include "kube/reflector.h"
#include "runtime/guarded.h"
#include "runtime/signal.h"

namespace controller {

// Everything that decides about service rules, at one instant. Holds what its pointers point to.
struct ClusterSeen {
  template <typename T>
  struct Kind {
    std::shared_ptr<const kube::View<T>> view;
    std::vector<const T*> objects;

    explicit Kind(std::shared_ptr<const kube::View<T>> of) : view(std::move(of)) {
      objects.reserve(view->objects.size());
      for (const auto& object : view->objects) objects.push_back(&object->value);
    }
  };

  Kind<api::IPRule> rules;
  Kind<api::Service> services;
  Kind<api::Node> nodes;
  Kind<api::Agent> agents;
  Kind<api::IPRuleConfig> configs;
  Kind<api::NodeState> states;
  Kind<api::EndpointSlice> slices;  // Empty while no IPRule asks for endpoints.
  std::map<std::string, AgentPods::View> pod_views;
  std::vector<const api::Pod*> pods;
  std::vector<std::string> unseen_agents;  // In words, as AgentPlaces has them.
  std::vector<std::string> unread_reports;
  std::vector<std::string> unread_configs;  // By name.

  // A policy or Service that is there but cannot be read may be the reason for any of the published objects.
  bool may_withdraw() const {
    return rules.view->unknown.empty() && services.view->unknown.empty() && slices.view->complete &&
           slices.view->unknown.empty();
  }
  // A policy that cannot be read may be the more specific one for an address that another seems to win now. A Service
  // decides on no address of others.
  bool may_replace() const { return rules.view->unknown.empty(); }
};

// Follows the API server from its construction on, and raises `changed` when something happens that can change a rule.
class ClusterWatch {
 public:
  ClusterWatch(kube::Client& client, runtime::Signal& changed);

  // Nothing while some list has not been seen whole. One thread.
  std::optional<ClusterSeen> look();

  // Any thread: what has not been seen whole yet, and why; nothing when all of it has.
  std::optional<std::string> waiting_for() const;

  // Any thread: how every watch does. Those that are followed only while needed are as the last look() found them.
  std::vector<WatchState> watches() const;

  // The names in it, always in this order.
  static std::vector<std::string> resources();

 private:
  using Slices = kube::Reflector<api::EndpointSlice>;
  std::shared_ptr<const kube::View<api::EndpointSlice>> look_at_slices(const std::vector<const api::IPRule*>& rules);
  void note_on_demand(const ClusterSeen& seen);

  kube::Client& client_;
  runtime::Signal& changed_;
  kube::Reflector<api::IPRule> rules_;
  kube::Reflector<api::Service> services_;
  kube::Reflector<api::Node> nodes_;
  kube::Reflector<api::Agent> agents_;
  kube::Reflector<api::IPRuleConfig> configs_;
  kube::Reflector<api::NodeState> states_;
  std::unique_ptr<Slices> slices_;  // Followed only while needed: most clusters have many and no use for them.
  AgentPods pods_;
  runtime::Guarded<std::vector<WatchState>> on_demand_;
};

}  // namespace controller
