#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/iprule_config.h"
#include "api/kinds.h"
#include "base/file.h"
#include "lab/world.h"
#include "testbed/cluster.h"
#include "testbed/eventually.h"
#include "testbed/fault_proxy.h"
#include "testbed/process.h"

namespace cluster_test {

using namespace std::chrono_literals;
using testbed::eventually;

constexpr auto kBound = 30s;

// The real agent on one node, with the rights of its role, before a real API server. The test is the controller: it
// publishes objects by hand and reads what the agent reports.
class AgentOnNode : public testing::Test {
 protected:
  static constexpr const char* kNode = "edge-1";

  static void SetUpTestSuite() {
    testbed::Cluster& cluster = testbed::shared_cluster();
    const std::string source = IPRULE_SOURCE_DIR;
    const auto must = [&](std::vector<std::string> arguments) {
      const auto done = cluster.kubectl(std::move(arguments));
      ASSERT_TRUE(done) << done.error().message();
    };
    if (!kubeconfig_.empty()) return;
    must({"apply", "-f", source + "/config/crd/bases"});
    must({"apply", "-f", source + "/config/rbac/agent_role.yaml"});
    must({"create", "serviceaccount", "edge-agent"});
    must({"create", "clusterrolebinding", "edge-agent", "--clusterrole=agent-role",
          "--serviceaccount=default:edge-agent"});
    must({"wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"});
    const auto credentials = cluster.service_account("default", "edge-agent");
    ASSERT_TRUE(credentials) << credentials.error().message();
    kubeconfig_ = cluster.kubeconfig(*credentials);
  }

  void SetUp() override {
    auto world = lab::World::make();
    ASSERT_TRUE(world) << world.error().message();
    world_.emplace(*std::move(world));
    auto node = world_->add_host(kNode);
    ASSERT_TRUE(node) << node.error().message();
    node_ = *node;
    ASSERT_TRUE(world_->plug(*node_, "eth0", world_->here(), kNode, cluster_.bridge()));
    ASSERT_TRUE(node_->add_address("eth0", lab::InterfaceAddress::of("172.30.77.21/24")));
    apply(fmt::format("apiVersion: v1\nkind: Node\nmetadata: {{name: {}, labels: {{zone: a}}}}\n", kNode));
  }

  void TearDown() override {
    if (agent_ != nullptr) agent_->kill();
    kubectl({"delete", "ipruleconfigs,nodestates,nodes", "--all"});
    kubectl({"delete", "agents", "--all", "--all-namespaces"});
    if (HasFailure() && agent_ != nullptr) fmt::print(stderr, "--- agent\n{}\n", agent_->output() + agent_->errors());
  }

  // `through`: a program that starts it, with its flags; `kubeconfig`: who it is for the API server.
  void start_agent(std::vector<std::string> environment = {}, std::vector<std::string> through = {},
                   const std::filesystem::path& kubeconfig = kubeconfig_) {
    through.insert(through.end(), {IPRULE_AGENT, "--kubeconfig", kubeconfig.native()});
    environment.insert(environment.begin(), {fmt::format("NODE_NAME={}", kNode), "POD_NAMESPACE=default"});
    auto started = node_->start({.arguments = std::move(through), .environment = std::move(environment)});
    ASSERT_TRUE(started) << started.error().message();
    agent_ = *started;
  }

  std::string kubectl(std::vector<std::string> arguments, std::string input = {}) {
    const auto output = cluster_.kubectl(std::move(arguments), std::move(input));
    EXPECT_TRUE(output) << output.error().message();
    return output.value_or("");
  }
  void apply(std::string manifest) { kubectl({"apply", "-f", "-"}, std::move(manifest)); }

  // As the controller publishes one.
  api::IPRuleConfig config(const std::string& name, const std::string& source, std::uint32_t table = 100) {
    api::IPRuleConfig out;
    out.meta.name = name;
    out.meta.labels.set(api::kManagedByLabel, std::string(api::kManagedByValue));
    out.meta.owners = {{.api_version = std::string(api::kApiVersion), .kind = "IPRule", .name = "a", .uid = "u"}};
    out.spec = {.service_ip = source, .table = table, .priority = 1000};
    return out;
  }
  void publish(api::IPRuleConfig object) {
    object.meta.annotations.set(api::kSpecHash, api::spec_hash(object.spec));
    apply(api::encode(object));
  }
  void publish_all(const std::vector<api::IPRuleConfig>& objects) {
    std::string text;
    for (api::IPRuleConfig object : objects) {
      object.meta.annotations.set(api::kSpecHash, api::spec_hash(object.spec));
      text += api::encode(object) + "\n---\n";
    }
    apply(text);
  }
  void patch(const std::string& name, const std::string& change) {
    kubectl({"patch", "ipruleconfig", name, "--type=merge", "-p", change});
  }
  // As the controller withdraws one: the hash goes with the state.
  void withdraw(const std::string& name) {
    patch(name,
          fmt::format(R"({{"metadata":{{"annotations":{{"{}":null}}}},"spec":{{"state":"absent"}}}})", api::kSpecHash));
  }
  void ask_for_report(const std::string& token) {
    apply(fmt::format("apiVersion: {}\nkind: NodeState\nmetadata: {{name: {}}}\nspec: {{token: {}}}\n",
                      api::kApiVersion, kNode, token));
  }

  std::string field(const std::string& kind, const std::string& name, const std::string& path) {
    return kubectl({"get", kind, name, "-o", fmt::format("jsonpath={{{}}}", path)});
  }
  std::string reported(const std::string& path) { return field("nodestate", kNode, ".status" + path); }
  std::int64_t reported_epoch() {
    const std::string text = reported(".settled[0].epoch");
    return text.empty() ? -1 : std::stoll(text);
  }
  std::int64_t version_of(const std::string& config) {
    return std::stoll(field("ipruleconfig", config, ".metadata.resourceVersion"));
  }
  testing::AssertionResult becomes_reported(const std::string& path, const std::string& value) {
    return eventually(fmt::format("status{} is {}", path, value), kBound, [&] { return reported(path) == value; });
  }

  std::string rules() { return ip({"-4", "rule"}) + ip({"-6", "rule"}); }
  std::string ip(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "ip");
    const auto done = testbed::run({.arguments = std::move(arguments), .network = node_->network()}, 10s);
    EXPECT_TRUE(done && done->exit.ok());
    return done ? done->output : "";
  }
  static std::string line(const std::string& source, int table = 100) {
    return fmt::format("1000:\tfrom {} lookup {} proto 183", source, table);
  }
  testing::AssertionResult rule_appears(const std::string& source, int table = 100) {
    return eventually("the rule is there", kBound, [&] { return rules().contains(line(source, table)); });
  }
  testing::AssertionResult rule_goes(const std::string& source) {
    return eventually("the rule is gone", kBound, [&] { return !rules().contains(line(source)); });
  }

  // What the agent says about itself over HTTP: status line, headers and body, asked for on the node.
  std::string ask(const std::string& path) {
    const std::string script =
        fmt::format(R"(exec 3<>/dev/tcp/127.0.0.1/9090 && printf 'GET {} HTTP/1.0\r\n\r\n' >&3 && cat <&3)", path);
    const auto done = testbed::run({.arguments = {"bash", "-c", script}, .network = node_->network()}, 10s);
    EXPECT_TRUE(done);
    return done ? done->output : "";
  }
  testing::AssertionResult answers(const std::string& path, const std::string& part) {
    return eventually(fmt::format("{} says {}", path, part), kBound, [&] { return ask(path).contains(part); });
  }

  // The account of agents, as a pod on that node has it.
  std::filesystem::path account_of_pod_on(const std::string& node) {
    apply(
        fmt::format("apiVersion: v1\nkind: Pod\nmetadata: {{name: agent-on-{0}, namespace: default}}\nspec: "
                    "{{nodeName: {0}, serviceAccountName: edge-agent, containers: [{{name: agent, image: agent}}]}}\n",
                    node));
    const auto credentials = cluster_.service_account("default", "edge-agent", "agent-on-" + node);
    EXPECT_TRUE(credentials) << credentials.error().message();
    return cluster_.kubeconfig(*credentials);
  }

  inline static std::filesystem::path kubeconfig_;
  testbed::Cluster& cluster_ = testbed::shared_cluster();
  std::optional<lab::World> world_;
  lab::Host* node_ = nullptr;
  testbed::Process* agent_ = nullptr;
};

// The same with a proxy between the agent and the API server, which does what tests ask.
class AgentBehindProxy : public AgentOnNode {
 protected:
  void start_behind_proxy() {
    const auto account = cluster_.service_account("default", "edge-agent");
    ASSERT_TRUE(account) << account.error().message();
    start_agent({}, {}, proxy_.kubeconfig(account->token));
  }

  testbed::FaultProxy proxy_{http::Url::parse(cluster_.url()).value(),
                             {.ca = base::read_file(cluster_.authority_file()).value_or("")},
                             cluster_.address().text()};
};

}  // namespace cluster_test
