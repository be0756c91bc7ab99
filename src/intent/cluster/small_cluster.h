#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/kinds.h"
#include "api/published_config.h"
#include "intent/cluster/decision.h"
#include "intent/cluster/sample.h"
#include "intent/node/report.h"

namespace intent {

// The API server's side of a small cluster, for tests: what the controller and the nodes write, with versions,
// generations and preconditions as the server keeps them. A value, so that a test can go back to it.
struct SmallServer {
  std::uint64_t version = 1;        // Of IPRuleConfigs,
  std::uint64_t state_version = 1;  // and of NodeStates: each kind is watched by itself.
  std::map<std::string, api::IPRuleConfig> configs;
  std::map<std::string, api::NodeState> states;
  int made = 0;  // For uids.

  // Each returns whether it was done: a write that was decided on another version is refused.
  bool apply(const Write& write) {
    const meta::Meta& meta = write.object.meta;
    if (write.step == Write::Step::create) {
      if (configs.contains(meta.name)) return false;
      api::IPRuleConfig& object = configs[meta.name] = write.object;
      object.meta.uid = "c" + std::to_string(++made);
      object.meta.generation = 1;
      object.meta.resource_version = next_version();
      return true;
    }
    api::IPRuleConfig* have = find(meta);
    if (have == nullptr) return false;
    if (write.step == Write::Step::remove) {
      ++version;
      return configs.erase(meta.name) > 0;
    }
    const bool is_new_spec = !(have->spec == write.object.spec);
    const auto status = have->status;
    *have = write.object;
    have->status = status;  // Has a subresource of its own.
    if (is_new_spec) ++have->meta.generation;
    have->meta.resource_version = next_version();
    return true;
  }
  bool apply(const ConfigStatusWrite& write) {
    api::IPRuleConfig* have = find(write.object.meta);
    if (have == nullptr) return false;
    have->status = write.object.status;
    have->meta.resource_version = next_version();
    return true;
  }
  bool apply(const NodeStateWrite& write) {
    const meta::Meta& meta = write.object.meta;
    if (write.step == NodeStateWrite::Step::create) {
      if (states.contains(meta.name)) return false;
      api::NodeState& object = states[meta.name] = write.object;
      object.meta.uid = "s" + std::to_string(++made);
      object.meta.resource_version = next_state_version();
      return true;
    }
    const auto have = states.find(meta.name);
    if (have == states.end() || have->second.meta.resource_version != meta.resource_version) return false;
    if (write.step == NodeStateWrite::Step::update) {
      const auto status = have->second.status;
      have->second = write.object;
      have->second.status = status;
      have->second.meta.resource_version = next_state_version();
    } else {
      states.erase(have);
    }
    return true;
  }
  // What a node's agent says about IPRuleConfigs. Only if the report is there.
  bool report(const std::string& node, const std::string& token, const api::NodeState::Settled& settled) {
    const auto have = states.find(node);
    if (have == states.end()) return false;
    have->second.status.token = token;
    have->second.status.settled = {settled};
    have->second.meta.resource_version = next_state_version();
    return true;
  }

 private:
  std::string next_version() { return std::to_string(++version); }
  std::string next_state_version() { return std::to_string(++state_version); }
  api::IPRuleConfig* find(const meta::Meta& meta) {
    const auto have = configs.find(meta.name);
    if (have == configs.end() || have->second.meta.uid != meta.uid) return nullptr;
    return have->second.meta.resource_version == meta.resource_version ? &have->second : nullptr;
  }
};

template <typename Map>
auto values_of(const Map& map) {
  std::vector<const typename Map::mapped_type*> out;
  for (const auto& [name, value] : map) out.push_back(&value);
  return out;
}

// Nodes with agents of ours, IPRules and Services in front of such a server, driven by passes of the controller.
class SmallCluster {
 public:
  SmallServer server;
  Sample wishes;
  Patience patience{std::chrono::seconds(5)};
  std::chrono::seconds clock{1'000'000};
  std::deque<api::Node> nodes;
  std::deque<api::Pod> pods;
  std::deque<api::EndpointSlice> slices;
  std::vector<std::string> unseen_agents;  // Where there may be more pods.
  std::vector<std::string> unread_reports;
  std::vector<std::string> unread_configs;
  FailedWrites failed_writes;  // The server does not take them, so pass() leaves them out.
  bool may_withdraw = true;
  bool may_replace = true;
  std::optional<api::Agent> agent;  // The active one.

  void add_node(const std::string& name, meta::Labels labels = {}) {
    api::Node& node = nodes.emplace_back();
    node.meta.name = name;
    node.meta.uid = "uid-" + name;
    node.meta.labels = std::move(labels);
    api::Pod& pod = pods.emplace_back();
    pod.meta.name = "agent-" + name;
    pod.node_name = name;
    pod.reports = pod.is_ready = true;
  }

  Decision decide() {
    const auto rules = wishes.rules();
    const auto services = wishes.services();
    const auto configs = values_of(server.configs);
    const auto states = values_of(server.states);
    const auto node_list = Sample::pointers(nodes);
    const auto pod_list = Sample::pointers(pods);
    const auto slice_list = Sample::pointers(slices);
    patience.begin_pass(base::TimePoint(clock));
    return intent::decide({.rules = rules,
                           .services = services,
                           .slices = slice_list,
                           .configs = configs,
                           .unread_configs = unread_configs,
                           .places = {.nodes = node_list,
                                      .pods = pod_list,
                                      .states = states,
                                      .unseen_agents = unseen_agents,
                                      .unread_reports = unread_reports},
                           .agent = agent ? &*agent : nullptr,
                           .may_withdraw = may_withdraw,
                           .may_replace = may_replace,
                           .fresh_token = "token",
                           .distrusted = {},
                           .failed_writes = failed_writes,
                           .now = meta::Time(clock)},
                          patience);
  }
  // All writes of one pass; the statuses of IPRules go into `rule_statuses`.
  Decision pass() {
    Decision decision = decide();
    for (const auto& write : decision.states) EXPECT_TRUE(server.apply(write));
    for (const auto& write : decision.configs) {
      if (failed_writes.contains(write.object.meta.name)) continue;
      EXPECT_TRUE(server.apply(write)) << write.object.meta.name;
    }
    for (const auto& write : decision.config_statuses) EXPECT_TRUE(server.apply(write)) << write.object.meta.name;
    for (const auto& write : decision.rule_statuses) wishes.rule_named(write.object.meta.name) = write.object;
    return decision;
  }
  // The node has done everything up to now.
  void settle(const std::string& node, std::vector<api::NodeState::Failed> failed = {}) {
    const auto state = server.states.find(node);
    ASSERT_NE(state, server.states.end());
    const auto count = static_cast<std::int32_t>(failed.size());
    server.report(node, state->second.spec.token,
                  {.kind = std::string(api::IPRuleConfig::kKind),
                   .epoch = static_cast<std::int64_t>(server.version),
                   .failed_count = count,
                   .failed = std::move(failed)});
  }
  void settle_all() {
    for (const api::Node& node : nodes) settle(node.meta.name);
  }
  const api::IPRule::Status& status(const std::string& rule) { return wishes.rule_named(rule).status; }
  // "True AllNodes", or "" where there is none.
  std::string condition(const std::string& rule, std::string_view type) {
    return describe(meta::find(status(rule).conditions, type));
  }
  std::string message(const std::string& rule, std::string_view type) {
    const auto* found = meta::find(status(rule).conditions, type);
    return found != nullptr ? found->message : "";
  }
  static std::string describe(const meta::Condition* condition) {
    return condition != nullptr ? std::string(meta::text(condition->status)) + " " + condition->reason : "";
  }
};

}  // namespace intent
