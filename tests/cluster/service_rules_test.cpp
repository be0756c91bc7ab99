// From a Service to a kernel rule, through every layer: a real API server, the real controller and agent, each with the
// rights its role gives and nothing more, and a network namespace as the node. What the kernel holds is read with `ip`.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/world.h"
#include "testbed/cluster.h"
#include "testbed/eventually.h"
#include "testbed/process.h"

namespace {

using namespace std::chrono_literals;
using testbed::eventually;
using testing::HasSubstr;
using testing::Not;

constexpr auto kBound = 30s;
constexpr auto kRecovery = 90s;  // After the API server was away: clients wait longer from one try to the next.
const std::string kSource = IPRULE_SOURCE_DIR;

constexpr std::string_view kRule = R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {name: public-eu}
spec: {cidrs: [203.0.113.0/24, "2001:db8:113::/64"], table: 100, priority: 1000}
)";

constexpr std::string_view kService = R"(
apiVersion: v1
kind: Service
metadata: {name: frontend, namespace: default}
spec:
  type: LoadBalancer
  ipFamilyPolicy: RequireDualStack
  ports: [{port: 80}]
)";

// A node that Kubernetes knows, with the pod its agent would run in, and what the controller needs to see that pod.
constexpr std::string_view kAgentPlace = R"(
apiVersion: v1
kind: Node
metadata: {name: worker-1}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: default}
---
apiVersion: v1
kind: Pod
metadata:
  name: iprule-agent-1
  namespace: default
  labels: {app: iprule-agent, app.kubernetes.io/name: ip-rule-operator}
spec: {nodeName: worker-1, containers: [{name: agent, image: agent}]}
---
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: Agent
metadata: {name: agent, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: pods, namespace: default}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: pods, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: pods}
subjects:
- {kind: ServiceAccount, name: manager, namespace: default}
)";

class ServiceRules : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    testbed::Cluster& cluster = testbed::shared_cluster();
    const auto apply = [&](const std::string& path) {
      const auto done = cluster.kubectl({"apply", "-f", kSource + path});
      ASSERT_TRUE(done) << done.error().message();
    };
    apply("/config/crd/bases");
    apply("/config/rbac/role.yaml");
    apply("/config/rbac/agent_role.yaml");
    for (const std::string name : {"manager", "agent"}) {
      ASSERT_TRUE(cluster.kubectl({"create", "serviceaccount", name}));
      ASSERT_TRUE(cluster.kubectl({"create", "clusterrolebinding", name, "--clusterrole=" + name + "-role",
                                   "--serviceaccount=default:" + name}));
      const auto credentials = cluster.service_account("default", name);
      ASSERT_TRUE(credentials) << credentials.error().message();
      kubeconfigs_[name] = cluster.kubeconfig(*credentials);
    }
    ASSERT_TRUE(cluster.kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"}));
  }

  void SetUp() override {
    auto world = lab::World::make();
    ASSERT_TRUE(world) << world.error().message();
    world_.emplace(*std::move(world));
    auto node = world_->add_host("worker-1");
    ASSERT_TRUE(node) << node.error().message();
    node_ = *node;
    ASSERT_TRUE(world_->plug(*node_, "eth0", world_->here(), "worker-1", cluster_.bridge()));
    ASSERT_TRUE(node_->add_address("eth0", lab::InterfaceAddress::of("172.30.77.11/24")));

    start_controller();
    start_agent();
  }

  void TearDown() override {
    kubectl({"delete", "iprule", "--all"});
    kubectl({"delete", "service", "frontend", "--ignore-not-found"});
    if (!HasFailure()) return;
    if (controller_) fmt::print(stderr, "--- controller\n{}\n", controller_->output() + controller_->errors());
    if (agent_ != nullptr) fmt::print(stderr, "--- agent\n{}\n", agent_->output() + agent_->errors());
  }

  void start_controller() {
    auto started =
        testbed::Process::start({.arguments = {IPRULE_CONTROLLER, "--kubeconfig", kubeconfigs_["manager"].native()}});
    ASSERT_TRUE(started) << started.error().message();
    controller_.emplace(*std::move(started));
  }

  void start_agent() {
    auto started = node_->start({.arguments = {IPRULE_AGENT, "--kubeconfig", kubeconfigs_["agent"].native()},
                                 .environment = {"NODE_NAME=worker-1"}});
    ASSERT_TRUE(started) << started.error().message();
    agent_ = *started;
  }

  std::string kubectl(std::vector<std::string> arguments, std::string input = {}) {
    const auto output = cluster_.kubectl(std::move(arguments), std::move(input));
    EXPECT_TRUE(output) << output.error().message();
    return output.value_or("");
  }

  // Creates the Service with its load balancer addresses, as a load balancer's controller would, and returns the
  // ClusterIPs the server chose.
  std::vector<std::string> publish_service() {
    kubectl({"apply", "-f", "-"}, std::string(kService));
    kubectl({"patch", "service", "frontend", "--subresource=status", "--type=merge", "-p",
             R"({"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.45"},{"ip":"2001:db8:113::45"}]}}})"});
    return {kubectl({"get", "service", "frontend", "-o", "jsonpath={.spec.clusterIPs[0]}"}),
            kubectl({"get", "service", "frontend", "-o", "jsonpath={.spec.clusterIPs[1]}"})};
  }

  // A second Service, IPv4 only; returns its ClusterIP.
  std::string publish_second_service() {
    kubectl({"create", "service", "loadbalancer", "second", "--tcp=80"});
    kubectl({"patch", "service", "second", "--subresource=status", "--type=merge", "-p",
             R"({"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.46"}]}}})"});
    return kubectl({"get", "service", "second", "-o", "jsonpath={.spec.clusterIP}"});
  }

  // Writes, so many that a server which starts does not make up for them by its own.
  void write_much() {
    std::string text;
    for (int i = 0; i < 300; ++i) {
      text += fmt::format("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: churn-{}}}\n---\n", i);
    }
    kubectl({"create", "-f", "-"}, text);
  }

  testing::AssertionResult rule_is_programmed() {
    return eventually("the rule is known to be in force", kRecovery, [&] {
      return kubectl({"get", "iprule", "public-eu", "-o",
                      R"(jsonpath={.status.conditions[?(@.type=="Programmed")].reason})"}) == "AllNodes";
    });
  }

  // What `ip rule` says on the node, both families.
  std::string rules() { return ip({"-4", "rule"}) + ip({"-6", "rule"}); }

  std::string ip(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "ip");
    const auto done = testbed::run({.arguments = std::move(arguments), .network = node_->network()}, 10s);
    EXPECT_TRUE(done && done->exit.ok());
    return done ? done->output : "";
  }

  static std::string line(const std::string& address) {
    return fmt::format("1000:\tfrom {} lookup 100 proto 183", address);
  }

  testing::AssertionResult rules_become_present(const std::vector<std::string>& addresses,
                                                base::Duration bound = kBound) {
    return eventually("all rules are there", bound, [&] {
      const std::string now = rules();
      return std::ranges::all_of(addresses, [&](const auto& address) { return now.contains(line(address)); });
    });
  }

  testing::AssertionResult rules_become_absent() {
    return eventually("our rules are gone", kBound, [&] { return !rules().contains("proto 183"); });
  }

  inline static std::map<std::string, std::filesystem::path> kubeconfigs_;
  testbed::Cluster& cluster_ = testbed::shared_cluster();
  std::optional<lab::World> world_;
  lab::Host* node_ = nullptr;
  std::optional<testbed::Process> controller_;
  testbed::Process* agent_ = nullptr;
};

TEST_F(ServiceRules, a_service_becomes_rules_on_the_node_and_they_go_with_it) {
  ip({"rule", "add", "from", "10.9.9.9", "lookup", "100", "priority", "1000"});  // Somebody else's.
  const std::string before = rules();

  kubectl({"apply", "-f", "-"}, std::string(kRule));
  const auto addresses = publish_service();
  EXPECT_TRUE(rules_become_present(addresses));
  EXPECT_THAT(kubectl({"get", "ipruleconfigs"}), HasSubstr(addresses[0]));

  kubectl({"delete", "service", "frontend"});
  EXPECT_TRUE(rules_become_absent());
  EXPECT_EQ(rules(), before) << "the node is as it was, the foreign rule included";
}

TEST_F(ServiceRules, a_service_outside_every_prefix_gets_no_rule) {
  kubectl({"apply", "-f", "-"}, std::string(kRule));
  const auto addresses = publish_service();
  ASSERT_TRUE(rules_become_present(addresses));
  kubectl({"patch", "service", "frontend", "--subresource=status", "--type=merge", "-p",
           R"({"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.45"}]}}})"});
  EXPECT_TRUE(rules_become_absent());
}

TEST_F(ServiceRules, rules_that_somebody_flushed_come_back) {
  kubectl({"apply", "-f", "-"}, std::string(kRule));
  const auto addresses = publish_service();
  ASSERT_TRUE(rules_become_present(addresses));
  ip({"rule", "flush", "protocol", "183"});
  ip({"-6", "rule", "flush", "protocol", "183"});
  EXPECT_TRUE(rules_become_present(addresses));
}

TEST_F(ServiceRules, without_an_api_server_the_rules_stay_and_are_still_repaired) {
  kubectl({"apply", "-f", "-"}, std::string(kRule));
  const auto addresses = publish_service();
  ASSERT_TRUE(rules_become_present(addresses));

  cluster_.api_server().kill();
  ip({"rule", "flush", "protocol", "183"});
  EXPECT_TRUE(rules_become_present(addresses));

  agent_->kill();
  start_agent();  // A start without any answer from the API knows nothing, and so it touches nothing.
  ASSERT_TRUE(eventually("the new agent has found that the API server is away", kBound,
                         [&] { return agent_->output().contains("watch failed"); }));
  EXPECT_THAT(rules(), HasSubstr(line(addresses[0])));

  ASSERT_TRUE(cluster_.api_server().restart());
  kubectl({"delete", "service", "frontend"});
  EXPECT_TRUE(rules_become_absent()) << "the agent has found its way back";
}

TEST_F(ServiceRules, what_happened_while_the_agent_was_away_is_done_at_its_start) {
  kubectl({"apply", "-f", "-"}, std::string(kRule));
  const auto addresses = publish_service();
  ASSERT_TRUE(rules_become_present(addresses));
  agent_->kill();
  kubectl({"delete", "service", "frontend"});
  ASSERT_TRUE(eventually("the config is gone", kBound,
                         [&] { return kubectl({"get", "ipruleconfigs", "-o", "name"}).empty(); }));
  EXPECT_THAT(rules(), HasSubstr(line(addresses[0]))) << "a stopped agent changes nothing";
  start_agent();
  EXPECT_TRUE(rules_become_absent());
}

TEST_F(ServiceRules, S11_an_object_stays_until_the_agent_has_reported_that_its_rule_is_gone) {
  kubectl({"apply", "-f", "-"}, std::string(kAgentPlace));
  kubectl({"apply", "-f", "-"}, std::string(kRule));
  const auto addresses = publish_service();
  ASSERT_TRUE(rules_become_present(addresses));
  EXPECT_TRUE(rule_is_programmed()) << kubectl({"get", "iprules,ipruleconfigs,nodestates", "-o", "yaml"});

  agent_->signal(SIGSTOP);
  kubectl({"delete", "service", "frontend"});
  EXPECT_TRUE(eventually("the node is named as missing", kBound, [&] {
    return kubectl({"get", "ipruleconfigs", "-o",
                    R"(jsonpath={.items[0].status.conditions[?(@.type=="CleanedUp")].message})"})
        .contains("waiting for: worker-1");
  }));
  EXPECT_THAT(rules(), HasSubstr(line(addresses[0])));
  agent_->signal(SIGCONT);
  EXPECT_TRUE(eventually("the objects are gone", kBound,
                         [&] { return kubectl({"get", "ipruleconfigs", "-o", "name"}).empty(); }));
  EXPECT_THAT(rules(), Not(HasSubstr("proto 183"))) << "gone means that no rule is left";
  kubectl({"delete", "--force", "-f", "-"}, std::string(kAgentPlace));
  kubectl({"delete", "nodestates", "--all"});
}

// What happened after the backup has not happened; what it took away is wanted again. Both programs have seen versions
// that the server will reach a second time.
TEST_F(ServiceRules, A8_a_storage_restored_from_a_backup_is_followed_and_acknowledgements_go_on) {
  kubectl({"apply", "-f", "-"}, std::string(kAgentPlace));
  kubectl({"apply", "-f", "-"}, std::string(kRule));
  const auto saved = publish_service();
  ASSERT_TRUE(rules_become_present(saved));
  ASSERT_TRUE(rule_is_programmed());
  ASSERT_TRUE(cluster_.save_storage());

  const std::string lost = publish_second_service();
  ASSERT_TRUE(rules_become_present({lost}, kRecovery));
  kubectl({"delete", "service", "frontend"});
  ASSERT_TRUE(eventually("one object is left, acknowledged", kRecovery, [&] {
    return kubectl({"get", "ipruleconfigs", "-o", "jsonpath={.items[*].spec.serviceIP}"}) == lost;
  }));
  ASSERT_THAT(rules(), Not(HasSubstr(line(saved[0]))));
  write_much();
  ASSERT_TRUE(cluster_.restore_storage());

  EXPECT_TRUE(rules_become_present(saved, kRecovery));
  EXPECT_TRUE(
      eventually("what was made after the backup is gone", kRecovery, [&] { return !rules().contains(line(lost)); }));
  EXPECT_TRUE(rule_is_programmed());
  kubectl({"delete", "service", "frontend"});
  EXPECT_TRUE(eventually("the objects are acknowledged and gone", kRecovery, [&] {
    return kubectl({"get", "ipruleconfigs", "-o", "name"}).empty();
  })) << kubectl({"get", "ipruleconfigs,nodestates", "-o", "yaml"});
  EXPECT_TRUE(rules_become_absent());
  kubectl({"delete", "--force", "-f", "-"}, std::string(kAgentPlace));
  kubectl({"delete", "nodestates", "--all"});
}

}  // namespace
