#include "intent/cluster/agent_template.h"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "json/reader.h"
#include "json/yaml_writer.h"

namespace intent {
namespace {

using api::Agent;
using api::DaemonSet;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kImage =
    "ghcr"
    ".io/mariusbertram/iprule-agent:v0.0.1";

const api::Toleration kControlPlane{
    .key = "node-role.kubernetes.io/control-plane", .op = "Exists", .value = "", .effect = "NoSchedule", .seconds = {}};

Agent agent(Agent::Spec spec = {}) {
  Agent out;
  out.meta.name = "agent";
  out.meta.ns = "system";
  out.meta.uid = "u-1";
  out.spec = std::move(spec);
  return out;
}

const DaemonSet::Container& container(const DaemonSet& set) {
  return set.spec.pod.spec.containers.at(0);
}

std::vector<std::string> variables(const DaemonSet& set) {
  std::vector<std::string> out;
  for (const auto& one : container(set).env)
    out.push_back(one.name + "=" + one.value + one.value_from.field_ref.field_path);
  return out;
}

TEST(TemplateHash, D52_is_the_old_projects_where_the_agent_says_nothing_new) {
  Agent::Spec spec{.node_selector = {{"kubernetes.io/os", "linux"}}};
  EXPECT_EQ(template_hash(spec, kImage), "4a2a394f313c6ee1");
  spec.tolerations = {kControlPlane};
  EXPECT_EQ(template_hash(spec, kImage), "9f508e274b49e8f4");
  spec.reconcile_period = "10s";
  spec.metrics_bind_address = ":9090";
  EXPECT_EQ(template_hash(spec, kImage), "9f508e274b49e8f4") << "defaults, said aloud";
}

TEST(TemplateHash, D52_every_part_counts_and_the_order_of_tolerations_does_not) {
  Agent::Spec base{.tolerations = {kControlPlane, {.key = "a", .op = "Exists", .effect = "NoExecute", .seconds = 5}}};
  const std::string hash = template_hash(base, kImage);
  Agent::Spec other = base;
  std::ranges::reverse(other.tolerations);
  EXPECT_EQ(template_hash(other, kImage), hash);
  // Equal in key and effect: the sort is total.
  Agent::Spec twins{
      .tolerations = {{.key = "k", .op = "Equal", .value = "1"}, {.key = "k", .op = "Equal", .value = "2"}}};
  Agent::Spec twins_turned = twins;
  std::ranges::reverse(twins_turned.tolerations);
  EXPECT_EQ(template_hash(twins, kImage), template_hash(twins_turned, kImage));

  const auto differs = [&](auto change) {
    Agent::Spec changed = base;
    change(changed);
    return template_hash(changed, kImage) != hash;
  };
  EXPECT_TRUE(differs([](Agent::Spec& spec) { spec.tolerations[1].seconds = 6; }));
  EXPECT_TRUE(differs([](Agent::Spec& spec) { spec.reconcile_period = "30s"; }));
  EXPECT_TRUE(differs([](Agent::Spec& spec) { spec.default_priority = 100; }));
  EXPECT_TRUE(differs([](Agent::Spec& spec) { spec.metrics_bind_address = ":9100"; }));
  EXPECT_TRUE(differs([](Agent::Spec& spec) { spec.priority_class_name = "mine"; }));
  EXPECT_TRUE(differs([](Agent::Spec& spec) { spec.log_level = api::LogLevel::debug; }));
  EXPECT_TRUE(differs([](Agent::Spec& spec) { spec.resources.limits.amounts = {{"cpu", "1"}}; }));
  EXPECT_NE(template_hash(base, "other"), hash);
}

// As it is sent, in the words of kubectl.
std::string yaml(const DaemonSet& set) {
  json::Reader reader;
  return json::to_yaml(reader.parse(api::encode(set)).value());
}

std::string golden(const std::string& name) {
  const auto folder = std::filesystem::path(IPRULE_SOURCE_DIR) / "tests/golden/agent_daemon_set";
  return base::read_file(folder / name).value_or(name + " cannot be read");
}

TEST(AgentDaemonSet, is_sent_as_written_down_for_an_agent_that_says_nothing) {
  EXPECT_EQ(yaml(agent_daemon_set(agent(), kImage)), golden("default.yaml"));
}

// What is of no concern to the pods (absentTimeout, dataplane, clusterCIDRs, foreignRules) leaves no trace in it.
TEST(AgentDaemonSet, is_sent_as_written_down_for_an_agent_that_says_everything) {
  const Agent everything = agent(
      {.image = "registry.example/agent:7",
       .node_selector = {{"kubernetes.io/os", "linux"}},
       .tolerations = {{.key = "dedicated", .op = "Equal", .value = "edge", .effect = "NoExecute", .seconds = 300}},
       .reconcile_period = "1m30s",
       .absent_timeout = "5m",
       .default_priority = 31000,
       .dataplane = api::Dataplane::marks,
       .cluster_cidrs = {"10.0.0.0/8"},
       .metrics_bind_address = "[fd00::1]:9100",
       .foreign_rules = {.policy = api::ForeignPolicy::report, .tables = {100}, .sources = {"10.0.0.0/8"}},
       .resources = {.requests = {{{"cpu", "20m"}, {"memory", "32Mi"}}},
                     .limits = {{{"cpu", "1"}, {"memory", "128Mi"}}}},
       .priority_class_name = "low",
       .log_level = api::LogLevel::debug});
  EXPECT_EQ(yaml(agent_daemon_set(everything, kImage)), golden("every_field.yaml"));
}

TEST(AgentDaemonSet, runs_pods_with_one_capability_on_the_hosts_network) {
  const DaemonSet set =
      agent_daemon_set(agent({.node_selector = {{"os", "linux"}}, .tolerations = {kControlPlane}}), kImage);
  EXPECT_EQ(set.meta.labels, (meta::Labels{{"app", "iprule-agent"},
                                           {"app.kubernetes.io/name", "ip-rule-operator"},
                                           {"managed-by", "ip-rule-operator"}}));
  EXPECT_EQ(set.meta.owners.at(0).uid, "u-1");
  EXPECT_TRUE(set.meta.owners.at(0).controller);
  const auto& pod = set.spec.pod.spec;
  EXPECT_TRUE(pod.host_network);
  EXPECT_EQ(pod.dns_policy, "ClusterFirstWithHostNet");
  EXPECT_EQ(pod.service_account_name, "iprule-agent");
  EXPECT_EQ(pod.priority_class_name, "system-node-critical");
  EXPECT_EQ(pod.termination_grace_period, 30);
  EXPECT_EQ(pod.node_selector.get("os"), "linux");
  EXPECT_THAT(pod.tolerations, ElementsAre(kControlPlane));
  EXPECT_EQ(container(set).image, kImage);
  EXPECT_EQ(container(set).resources.limits.amounts.text(), "cpu=100m,memory=64Mi");
  EXPECT_THAT(container(set).security_context.capabilities.add, ElementsAre("NET_ADMIN"));
  EXPECT_THAT(container(set).security_context.capabilities.drop, ElementsAre("ALL"));
  EXPECT_FALSE(container(set).security_context.allow_privilege_escalation);
  EXPECT_TRUE(container(set).security_context.read_only_root);
  EXPECT_THAT(variables(set),
              ElementsAre("NODE_NAME=spec.nodeName", "POD_NAME=metadata.name", "POD_NAMESPACE=metadata.namespace",
                          "RECONCILE_PERIOD=10s", "METRICS_ADDR=:9090"));
  EXPECT_EQ(container(set).liveness->http_get.path, "/health");
  EXPECT_EQ(container(set).liveness->period, 30);
  EXPECT_EQ(container(set).readiness->initial_delay, 5);
}

TEST(AgentDaemonSet, pods_have_a_token_of_an_hour_where_clients_look_for_it) {
  const DaemonSet set = agent_daemon_set(agent(), kImage);
  EXPECT_FALSE(set.spec.pod.spec.automount_token);
  const auto& mount = container(set).mounts.at(0);
  EXPECT_EQ(mount.path, "/var/run/secrets/kubernetes.io/serviceaccount");
  EXPECT_TRUE(mount.read_only);
  const auto& volume = set.spec.pod.spec.volumes.at(0);
  EXPECT_EQ(volume.name, mount.name);
  ASSERT_EQ(volume.projected.sources.size(), 3U);
  EXPECT_EQ(volume.projected.sources[0].token->path, "token");
  EXPECT_EQ(volume.projected.sources[0].token->expiration, 3600);
  EXPECT_EQ(volume.projected.sources[1].config_map->items.at(0).path, "ca.crt");
  EXPECT_EQ(volume.projected.sources[2].pod->items.at(0).path, "namespace");
}

TEST(AgentDaemonSet, D35_probes_follow_the_metrics_address) {
  const auto loopback = agent_daemon_set(agent({.metrics_bind_address = "127.0.0.1:9100"}), kImage);
  EXPECT_EQ(container(loopback).ports.at(0).container_port, 9100);
  EXPECT_EQ(container(loopback).liveness->http_get.host, "127.0.0.1");
  const auto v6 = agent_daemon_set(agent({.metrics_bind_address = "[::1]:9100"}), kImage);
  EXPECT_EQ(container(v6).readiness->http_get.host, "::1");
  const auto off = agent_daemon_set(agent({.metrics_bind_address = "0"}), kImage);
  EXPECT_THAT(container(off).ports, IsEmpty());
  EXPECT_FALSE(container(off).liveness);
  EXPECT_FALSE(container(off).readiness);
  EXPECT_THAT(variables(off), testing::Contains("METRICS_ADDR="));
}

// The agent would listen on every address instead, and the probes would end it again and again.
TEST(AgentDaemonSet, an_address_that_the_agent_cannot_read_is_the_nodes_own_for_agent_and_probes) {
  for (const char* text : {"node.lan:9100", "::1:9100", "[10.0.0.1]:9100", "[]:9100", "10.0.0.256:9100", "9100",
                           "127.0.0.1:0", ":http", ":65536"}) {
    const auto set = agent_daemon_set(agent({.metrics_bind_address = text}), kImage);
    EXPECT_THAT(variables(set), testing::Contains("METRICS_ADDR=127.0.0.1:9090")) << text;
    EXPECT_EQ(container(set).ports.at(0).container_port, 9090) << text;
    EXPECT_EQ(container(set).liveness->http_get.host, "127.0.0.1") << text;
    EXPECT_EQ(container(set).readiness->http_get.host, "127.0.0.1") << text;
  }
}

TEST(AgentDaemonSet, probes_go_where_the_agent_listens_whatever_a_name_means_to_the_node) {
  const auto probed = [](const char* text) {
    return container(agent_daemon_set(agent({.metrics_bind_address = text}), kImage)).liveness->http_get.host;
  };
  EXPECT_EQ(probed("localhost:9100"), "127.0.0.1");
  EXPECT_EQ(probed("[::ffff:10.0.0.1]:9100"), "10.0.0.1");
  for (const char* everywhere : {"", ":9100", "0.0.0.0:9100", "[::]:9100"}) EXPECT_EQ(probed(everywhere), "");
}

TEST(AgentDaemonSet, settings_reach_the_agent_only_where_they_are_not_the_default) {
  const auto set = agent_daemon_set(agent({.image = "mine:1",
                                           .reconcile_period = "0s",
                                           .default_priority = 7,
                                           .priority_class_name = "low",
                                           .log_level = api::LogLevel::debug}),
                                    kImage);
  EXPECT_EQ(container(set).image, "mine:1");
  EXPECT_EQ(set.spec.pod.spec.priority_class_name, "low");
  EXPECT_THAT(variables(set), testing::IsSupersetOf({"RECONCILE_PERIOD=1s", "DEFAULT_PRIORITY=7", "LOG_LEVEL=debug"}));
}

TEST(AgentDaemonSet, D38_what_others_added_is_theirs) {
  const DaemonSet wanted = agent_daemon_set(agent(), kImage);
  DaemonSet live = wanted;
  EXPECT_TRUE(covers(live, wanted));
  live.meta.labels.set("team", "net");
  live.spec.pod.meta.annotations.set("kubectl.kubernetes.io/restartedAt", "now");
  live.spec.pod.spec.volumes.push_back({.name = "team-net", .projected = {}});
  live.spec.pod.spec.containers.at(0).mounts.push_back({.name = "team-net", .path = "/team"});
  live.spec.pod.spec.containers.at(0).env.push_back({.name = "MALLOC_ARENA_MAX", .value = "1", .value_from = {}});
  EXPECT_TRUE(covers(live, wanted));
}

TEST(AgentDaemonSet, D39_drift_of_what_is_ours_is_seen) {
  const DaemonSet wanted = agent_daemon_set(agent(), kImage);
  const auto drifts = [&](auto change) {
    DaemonSet live = wanted;
    change(live);
    return !covers(live, wanted);
  };
  EXPECT_TRUE(drifts([](DaemonSet& set) { set.spec.update_strategy.type = "OnDelete"; }));
  EXPECT_TRUE(drifts([](DaemonSet& set) { set.spec.update_strategy.rolling_update.max_unavailable = {"10%"}; }));
  EXPECT_TRUE(drifts([](DaemonSet& set) { set.spec.pod.spec.node_selector.set("a", "b"); }));
  EXPECT_TRUE(drifts([](DaemonSet& set) { set.spec.pod.spec.containers.at(0).image = "other"; }));
  EXPECT_TRUE(drifts([](DaemonSet& set) { set.spec.pod.spec.containers.at(0).env.clear(); }));
  EXPECT_TRUE(drifts([](DaemonSet& set) { set.spec.pod.spec.containers.clear(); }));
  EXPECT_TRUE(drifts([](DaemonSet& set) { set.spec.pod.spec.automount_token = true; }));
  EXPECT_TRUE(drifts([](DaemonSet& set) { set.spec.pod.spec.volumes.clear(); }));
  EXPECT_TRUE(drifts([](DaemonSet& set) { set.spec.pod.spec.containers.at(0).mounts.clear(); }));
  EXPECT_TRUE(drifts([](DaemonSet& set) { set.meta.owners.clear(); }));
  EXPECT_TRUE(drifts([](DaemonSet& set) { set.spec.pod.meta.annotations = {}; }));
}

}  // namespace
}  // namespace intent
