// What iprulectl prints about a cluster with the real controller and the real agent, kept in golden/cluster.md.
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "cli/answer_document.h"
#include "cli/cluster.h"
#include "cli/drift.h"
#include "cli/node_report.h"
#include "lab/world.h"
#include "testbed/cluster.h"
#include "testbed/eventually.h"
#include "testbed/page.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

namespace {

using namespace std::chrono_literals;

const std::filesystem::path kSource = IPRULE_SOURCE_DIR;

// What the controller must see to count the agent that the test runs: a Node, and a pod of the agents' there.
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
metadata: {name: iprule-agent-1, namespace: default, labels: {app: iprule-agent, app.kubernetes.io/name: ip-rule-operator}}
spec: {nodeName: worker-1, containers: [{name: agent, image: agent}]}
---
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: Agent
metadata: {name: agent, namespace: default}
)";

class Golden : public testing::Test {
 protected:
  void SetUp() override {
    kubectl({"apply", "-f", (kSource / "config/crd/bases").native()});
    kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"});
    kubectl({"apply", "-f", "-"}, std::string(kAgentPlace));
    ASSERT_NO_FATAL_FAILURE(lay_node());
    const std::string access = cluster_.admin_kubeconfig().native();
    auto controller =
        testbed::Process::start({.arguments = {IPRULE_CONTROLLER, "--kubeconfig", access, "--leader-elect"},
                                 .environment = {"POD_NAMESPACE=default"}});
    ASSERT_TRUE(controller) << controller.error().message();
    controller_.emplace(*std::move(controller));
    auto agent = node_->start({.arguments = {IPRULE_AGENT, "--kubeconfig", access},
                               .environment = {"NODE_NAME=worker-1", "POD_NAMESPACE=default"}});
    ASSERT_TRUE(agent) << agent.error().message();
    agent_ = *agent;
    kubectl({"patch", "pod", "iprule-agent-1", "--subresource=status", "--type=merge", "-p",
             R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})"});
    ASSERT_TRUE(becomes({"nodestate", "worker-1"}, "{.status.sync}", "InSync"));
    ASSERT_TRUE(becomes({"agent", "agent"}, R"({.status.conditions[?(@.type=="Ready")].status})", "False"))
        << "no kubelet runs its pods";
  }

  // The cluster is shared with other suites.
  void TearDown() override {
    if (HasFailure() && controller_)
      fmt::print(stderr, "--- controller\n{}\n", controller_->output() + controller_->errors());
    if (HasFailure() && agent_ != nullptr) fmt::print(stderr, "--- agent\n{}\n", agent_->output() + agent_->errors());
    kubectl({"delete", "iprules", "--all"});
    if (controller_) controller_->kill();
    if (agent_ != nullptr) agent_->kill();
    kubectl({"delete", "agents,pods", "--all", "--namespace=default", "--grace-period=0", "--force"});
    for (const char* kind : {"ipruleconfigs", "agents"}) {
      for (const auto& name : names(kind)) {
        kubectl({"patch", name, "--type=merge", "-p", R"({"metadata":{"finalizers":null}})"});
      }
    }
    kubectl({"delete", "ipruleconfigs,nodestates,nodes,leases", "--all"});
    kubectl({"delete", "-n", "golden", "service,endpointslices", "--all"});
  }

  void lay_node() {
    auto world = lab::World::make();
    ASSERT_TRUE(world) << world.error().message();
    world_.emplace(*std::move(world));
    auto node = world_->add_host("worker-1");
    ASSERT_TRUE(node) << node.error().message();
    node_ = *node;
    ASSERT_TRUE(world_->plug(*node_, "eth0", world_->here(), "worker-1", cluster_.bridge()));
    ASSERT_TRUE(node_->add_address("eth0", lab::InterfaceAddress::of("172.30.77.11/24")));
    const auto route =
        testbed::run({.arguments = {"ip", "route", "add", "default", "via", "172.30.77.1", "table", "100"},
                      .network = node_->network()},
                     10s);
    ASSERT_TRUE(route && route->exit.ok());
  }

  testing::AssertionResult becomes(std::vector<std::string> object, const std::string& path, const std::string& value) {
    object.insert(object.begin(), "get");
    object.insert(object.end(), {"-o", "jsonpath=" + path});
    return testbed::eventually(path + " is " + value, 60s,
                               [&] { return cluster_.kubectl(object).value_or("") == value; });
  }

  std::string kubectl(std::vector<std::string> words, std::string input = {}) {
    const auto done = cluster_.kubectl(std::move(words), std::move(input));
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or("");
  }
  std::vector<std::string> names(const std::string& kind) {
    std::vector<std::string> out;
    std::string rest = kubectl({"get", kind, "-o", "name", "--all-namespaces"});
    for (auto end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
      out.push_back(rest.substr(0, end));
      rest.erase(0, end + 1);
    }
    return out;
  }

  // Both outputs, as a person sees them who has the administrator's kubeconfig.
  std::string type(const std::string& command) {
    std::filesystem::create_directories(folder_ / "bin");
    const auto kubectl_file = folder_ / "bin/kubectl";
    if (!std::filesystem::exists(kubectl_file)) {
      EXPECT_TRUE(base::write_file(kubectl_file,
                                   fmt::format("#!/bin/sh\nexec '{}' kubectl \"$@\"\n", cluster_.program().native())));
      std::filesystem::permissions(kubectl_file, std::filesystem::perms::owner_all);
      std::filesystem::create_symlink(IPRULECTL, folder_ / "bin/iprulectl");
    }
    const auto done = testbed::run(
        {.arguments = {"sh", "-c",
                       fmt::format("cd '{0}' && PATH='{0}/bin':$PATH && ({1}) 2>&1", folder_.path().native(), command)},
         .environment = {"KUBECONFIG=" + cluster_.admin_kubeconfig().native()}},
        180s);
    EXPECT_TRUE(done) << done.error().message();
    return done ? done->output : "";
  }

  testbed::Cluster& cluster_ = testbed::shared_cluster();
  testbed::TempFolder folder_;
  std::optional<lab::World> world_;
  lab::Host* node_ = nullptr;
  std::optional<testbed::Process> controller_;
  testbed::Process* agent_ = nullptr;
};

TEST_F(Golden, every_command_prints_of_a_cluster_what_the_page_shows) {
  const std::size_t commands =
      testbed::try_out(kSource / "tests/cluster/golden/cluster.md",
                       {.write = [&](const std::string& name,
                                     const std::string& text) { ASSERT_TRUE(base::write_file(folder_ / name, text)); },
                        .type = [&](const std::string& command) { return type(command); }});
  EXPECT_GT(commands, 0U);
}

// No kubelet runs here that could carry the question, so it is put by hand to the program that would answer.
TEST_F(Golden, what_is_asked_of_a_node_is_what_its_agent_has_done) {
  kubectl({"create", "namespace", "asked"});
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: v1
kind: Service
metadata: {name: frontend, namespace: asked}
spec: {type: LoadBalancer, ports: [{port: 80}]}
---
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {name: public-eu}
spec: {cidrs: [203.0.113.0/24], table: 100, priority: 1000, source: {modes: [Reply, ClusterIP]}}
)");
  kubectl({"patch", "service", "frontend", "-n", "asked", "--subresource=status", "--type=merge", "-p",
           R"({"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.45"}]}}})"});
  ASSERT_TRUE(becomes({"iprule", "public-eu"}, R"({.status.conditions[?(@.type=="Programmed")].status})", "True"));

  auto cluster = cli::Cluster::connect({.kubeconfig = cluster_.admin_kubeconfig()});
  ASSERT_TRUE(cluster) << cluster.error().message();
  const cli::ClusterObjects objects = cluster->read_objects();
  const auto ask_kernel = [&](const std::string& node, const cli::Question& question) -> base::Result<cli::Answer> {
    EXPECT_EQ(node, "worker-1");
    const auto done = TRY(testbed::run(
        {.arguments = {IPRULE_AGENT, "query"}, .input = cli::encode(question) + "\n", .network = node_->network()},
        30s));
    EXPECT_TRUE(done.exit.ok()) << done.errors;
    return cli::decode_answer(done.output);
  };
  const auto same = cli::diff_in_cluster(objects, {"worker-1"}, meta::Time(), ask_kernel);
  ASSERT_TRUE(same) << same.error().message();
  EXPECT_EQ(same->code, cli::ExitCode::fine) << same->page.render({});
  EXPECT_THAT(same->page.render({}), testing::HasSubstr("Diff: 0 of 1 nodes differ, by their kernels, asked now.\n"));

  agent_->kill();
  ASSERT_TRUE(testbed::run({.arguments = {"ip", "rule", "flush"}, .network = node_->network()}, 10s)->exit.ok());
  const auto drift = cli::drift_in_cluster(objects, {.nodes = {"worker-1"}}, meta::Time(), ask_kernel);
  ASSERT_TRUE(drift) << drift.error().message();
  EXPECT_EQ(drift->code, cli::ExitCode::attention);
  EXPECT_THAT(drift->page.render({}), testing::HasSubstr("worker-1  IPv4 rule 1000: from 10.96."));
  EXPECT_THAT(drift->page.render({}), testing::HasSubstr("  missing  -       not repaired yet\n"));
  kubectl({"delete", "-n", "asked", "service", "frontend"});
}

}  // namespace
