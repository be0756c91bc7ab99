// What a person does, on a real cluster of one node: builds the images, applies dist/install.yaml and the samples,
// gives a Service an address, looks into the node's kernel, and removes everything again.
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "lab/world.h"
#include "testbed/cluster.h"
#include "testbed/eventually.h"
#include "testbed/machine.h"
#include "testbed/node.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

namespace {

using namespace std::chrono_literals;
using testbed::eventually;
using testing::HasSubstr;
using testing::Not;

constexpr auto kBound = 120s;  // Pods start in seconds; on a busy machine in many.
const std::filesystem::path kSource = IPRULE_SOURCE_DIR;
const std::string kNamespace = "ip-rule-operator-system";

constexpr std::string_view kService = R"(
apiVersion: v1
kind: Service
metadata: {name: frontend, namespace: default}
spec: {type: LoadBalancer, ports: [{port: 80}]}
)";

// One node for all tests of this file; each installs and removes.
struct Machine {
  testbed::TempFolder images;
  std::unique_ptr<testbed::Cluster> cluster;
  std::optional<lab::World> world;
  std::unique_ptr<testbed::Node> node;
};

base::Result<std::filesystem::path> build_image(const testbed::TempFolder& folder, const std::string& program,
                                                const std::string& path, const std::string& name) {
  std::filesystem::path archive = folder / (path.substr(1) + ".tar");
  const auto done = TRY(
      testbed::run({.arguments = {(kSource / ".ci/image").native(), program, path, name, archive.native()}}, kBound));
  if (!done.exit.ok()) return base::fail(base::Fault::invalid, name + ": " + done.errors);
  fmt::print("{}", done.output);
  return archive;
}

base::Result<std::unique_ptr<Machine>> make_machine() {
  auto machine = std::make_unique<Machine>();
  std::string version = TRY(base::read_file(kSource / "VERSION"));
  while (version.ends_with('\n')) version.pop_back();
  std::vector<std::filesystem::path> images;
  images.push_back(TRY(build_image(machine->images, PAUSE, "/pause", testbed::Node::kPauseImage)));
  images.push_back(TRY(build_image(machine->images, IPRULE_CONTROLLER, "/manager", "iprule-controller:v" + version)));
  images.push_back(TRY(build_image(machine->images, IPRULE_AGENT, "/agent", "iprule-agent:v" + version)));
  machine->cluster = TRY(testbed::Cluster::start({.controller_manager = true, .scheduler = true}));
  machine->world.emplace(TRY(lab::World::make()));
  machine->node = TRY(testbed::Node::start(*machine->cluster, *machine->world, "worker-1", 11, images));
  return machine;
}

class RealNode : public testing::Test {
 protected:
  static void TearDownTestSuite() { machine_.reset(); }

  void SetUp() override {
    SKIP_UNLESS_MACHINE_HAS("cgroup-v1");
    if (machine_ == nullptr) {
      auto machine = make_machine();
      ASSERT_TRUE(machine) << machine.error().message();
      machine_ = *std::move(machine);
    }
    cluster_ = machine_->cluster.get();
    node_ = machine_->node.get();
  }

  void TearDown() override {
    if (!HasFailure() || node_ == nullptr) return;
    fmt::print("{}\n{}\n", cluster_->kubectl({"get", "pods,daemonsets,agents,events", "-A", "-o", "wide"}).value_or(""),
               node_->logs("iprule"));
  }

  std::string kubectl(std::vector<std::string> arguments, std::string input = {}) {
    const auto output = cluster_->kubectl(std::move(arguments), std::move(input));
    EXPECT_TRUE(output) << output.error().message();
    return output.value_or("");
  }

  void make(std::vector<std::string> words) {
    words.insert(words.begin(), {"make", "--no-print-directory", "-C", kSource.native()});
    words.push_back(fmt::format("KUBECTL={} kubectl --kubeconfig {}", cluster_->program().native(),
                                cluster_->admin_kubeconfig().native()));
    const auto done = testbed::run({.arguments = words}, kBound * 2);
    EXPECT_TRUE(done && done->exit.ok()) << words[4] << ": " << (done ? done->errors : done.error().message());
  }

  std::string rules() { return node_->run({"ip", "rule", "show"}).value_or("unreadable"); }

  std::string agent_pod() {
    return kubectl({"get", "pods", "--namespace=" + kNamespace, "--selector=app=iprule-agent", "-o",
                    "jsonpath={.items[*].metadata.name}"});
  }

  bool agents_ready() {
    return kubectl({"get", "agent", "agent", "--namespace=" + kNamespace, "-o",
                    R"(jsonpath={.status.conditions[?(@.type=="Ready")].reason})"}) == "AllReady";
  }

  void install() {
    kubectl({"apply", "-f", (kSource / "dist/install.yaml").native()});
    kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"});
    ASSERT_TRUE(eventually("both controllers are ready", kBound, [&] {
      return kubectl({"get", "deployment", "ip-rule-operator-controller-manager", "--namespace=" + kNamespace, "-o",
                      "jsonpath={.status.readyReplicas}"}) == "2";
    }));
    kubectl({"apply", "-f", (kSource / "config/samples/agent.yaml").native()});
    ASSERT_TRUE(eventually("the agent is ready", kBound, [&] { return agents_ready(); }));
  }

  // As a load balancer's controller would; returns the rule's text that this must lead to.
  std::string publish_service() {
    kubectl({"apply", "-f", (kSource / "examples/iprule-public.yaml").native()});
    kubectl({"apply", "-f", "-"}, std::string(kService));
    kubectl({"patch", "service", "frontend", "--subresource=status", "--type=merge", "-p",
             R"({"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.45"}]}}})"});
    return fmt::format("1000:\tfrom {} lookup 100 proto 183",
                       kubectl({"get", "service", "frontend", "-o", "jsonpath={.spec.clusterIP}"}));
  }

  static inline std::unique_ptr<Machine> machine_;
  testbed::Cluster* cluster_ = nullptr;
  testbed::Node* node_ = nullptr;
};

TEST_F(RealNode, D48_from_the_install_to_a_kernel_rule_and_back_to_nothing) {
  const std::string before = rules();
  ASSERT_NO_FATAL_FAILURE(install());
  const std::string rule = publish_service();
  ASSERT_TRUE(eventually("the rule is in the node's kernel", kBound, [&] {
    return rules().find(rule) != std::string::npos;
  })) << rules();

  // An agent that goes and comes, as in a roll-out or a drain, leaves the kernel as it is.
  const std::string pod = agent_pod();
  kubectl({"delete", "pod", pod, "--namespace=" + kNamespace, "--wait"});
  EXPECT_THAT(rules(), HasSubstr(rule));
  EXPECT_TRUE(eventually("another agent is ready", kBound, [&] { return agent_pod() != pod && agents_ready(); }));
  EXPECT_THAT(rules(), HasSubstr(rule));

  make({"undeploy"});
  EXPECT_EQ(rules(), before);
  EXPECT_THAT(kubectl({"get", "pods", "-A"}), Not(HasSubstr("iprule")));
  make({"uninstall"});
}

// What the old project's own end-to-end test asks for, with its names.
TEST_F(RealNode, what_the_old_projects_end_to_end_test_looks_at_is_there) {
  const std::string name_space = "--namespace=iprule-system";
  kubectl({"create", "namespace", "iprule-system"});
  kubectl({"label", "namespace", "iprule-system", "pod-security.kubernetes.io/enforce=restricted"});
  make({"install"});
  make({"deploy", "OVERLAY=overlays/iprule-system"});
  ASSERT_TRUE(eventually("exactly one controller runs", kBound, [&] {
    return kubectl({"get", "pods", name_space, "--selector=control-plane=controller-manager", "-o",
                    "jsonpath={.items[*].status.phase}"}) == "Running";
  }));
  EXPECT_THAT(kubectl({"get", "pods", name_space, "-o", "name"}), HasSubstr("controller-manager"));

  kubectl({"create", "clusterrolebinding", "iprule-metrics-binding", "--clusterrole=iprule-metrics-reader",
           "--serviceaccount=iprule-system:iprule-controller-manager"});
  std::string token = kubectl({"create", "token", "iprule-controller-manager", name_space});
  while (token.ends_with('\n')) token.pop_back();
  const std::string url =
      fmt::format("https://{}:8443/metrics", kubectl({"get", "service", "iprule-controller-manager-metrics-service",
                                                      name_space, "-o", "jsonpath={.spec.clusterIP}"}));
  std::string answer;
  EXPECT_TRUE(eventually("metrics are served", kBound, [&] {
    answer = node_->run({"curl", "-sSik", "-H", "Authorization: Bearer " + token, url}).value_or("");
    return answer.starts_with("HTTP/1.1 200 OK") &&
           answer.find("controller_runtime_reconcile_total") != std::string::npos;
  })) << answer;
  EXPECT_THAT(node_->run({"curl", "-sSik", url}).value_or(""), HasSubstr("HTTP/1.1 401"));

  const std::string agent =
      "apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: Agent\n"
      "metadata: {name: NAME, namespace: iprule-system}\nspec: {}\n";
  const auto named = [&](const std::string& name) { return std::string(agent).replace(agent.find("NAME"), 4, name); };
  kubectl({"apply", "-f", "-"},
          "apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: IPRule\nmetadata: {name: old}\n"
          "spec: {cidr: 192.168.1.0/24, table: 100, priority: 1000}\n");
  kubectl({"apply", "-f", "-"}, named("agent"));
  const auto refused = cluster_->kubectl({"apply", "-f", "-"}, named("other"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("Agent resource name must be 'agent'"));
  EXPECT_TRUE(eventually("the DaemonSet", kBound, [&] {
    return kubectl({"get", "daemonsets", name_space, "-o", "name"}) == "daemonset.apps/iprule-agent\n";
  }));
  EXPECT_TRUE(eventually("the Agent's condition", kBound, [&] {
    return kubectl({"get", "agent", "agent", name_space, "-o",
                    R"(jsonpath={.status.conditions[?(@.type=="Ready")].status})"}) == "True";
  }));

  make({"undeploy", "OVERLAY=overlays/iprule-system"});
  make({"uninstall"});
  kubectl({"delete", "clusterrolebinding", "iprule-metrics-binding"});
}

}  // namespace
