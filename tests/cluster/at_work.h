#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "install.h"
#include "lab/kubernetes/join.h"
#include "lab/world.h"
#include "testbed/eventually.h"
#include "testbed/process.h"

namespace cluster_test {

using namespace std::chrono_literals;
using install::kNamespace;
using install::kubectl;
using testbed::eventually;

constexpr auto kBound = 60s;
constexpr auto kRecovery = 150s;  // Waits between tries grow to a minute.

// The default install at work: the real controller, and on each of some nodes the real agent, with the token of the pod
// that the DaemonSet has there. Nodes are network namespaces; only the kubelet's part is played by the test.
class AtWork : public testing::Test {
 protected:
  struct Worker {
    std::string name;
    lab::Host* host;
    std::filesystem::path kubeconfig;  // Of its agent.
    testbed::Process* agent;
  };

  void SetUp() override {
    (void)install::cluster();
    auto world = lab::World::make();
    ASSERT_TRUE(world) << world.error().message();
    world_.emplace(*std::move(world));
    start_controller();
    create_agent();
  }

  void TearDown() override {
    if (HasFailure()) {
      fmt::print(stderr, "--- controller\n{}\n", controller_->process.output() + controller_->process.errors());
      for (const Worker& worker : workers_) {
        if (worker.agent == nullptr) continue;
        fmt::print(stderr, "--- agent of {}\n{}\n", worker.name, worker.agent->output() + worker.agent->errors());
      }
      fmt::print(stderr, "---\n{}\n", kubectl({"get", "iprules,ipruleconfigs,nodestates,agents", "-A", "-o", "yaml"}));
    }
    kubectl({"delete", "iprules", "--all"});
    kubectl({"delete", "services", "--selector=!component", "--namespace=default"});
    kubectl({"delete", "endpointslices", "--selector=test=slice", "--namespace=default"});
    kubectl({"delete", "agents", "--all", "--all-namespaces"});
    kubectl({"delete", "nodes", "--all"});
    EXPECT_TRUE(eventually("nothing is left", kBound, [&] {
      kubectl({"delete", "pods", "--all", "-n", kNamespace, "--force", "--grace-period=0"});  // No kubelet ends them.
      return kubectl({"get", "daemonsets,pods", "-n", kNamespace, "-o", "name"}).empty() &&
             kubectl({"get", "nodestates,ipruleconfigs", "-o", "name"}).empty();
    }));
  }

  void start_controller() { controller_.emplace(install::start_controller({"--absent-delay=0s"})); }
  static void create_agent() {
    kubectl({"apply", "-f", "-"}, fmt::format("apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: Agent\n"
                                              "metadata: {{name: agent, namespace: {}}}\n",
                                              kNamespace));
  }

  // Joined to the cluster, its agent at work.
  Worker& add_worker(const std::string& name) {
    const int number = 11 + static_cast<int>(workers_.size());
    install::add_node(name);
    auto host = world_->add_host(name);
    EXPECT_TRUE(host) << host.error().message();
    const auto addresses = lab::join(*world_, **host, install::cluster(), number);
    EXPECT_TRUE(addresses) << addresses.error().message();
    kubectl({"patch", "node", name, "--subresource=status", "--type=merge", "-p",
             fmt::format(R"({{"status":{{"addresses":[{{"type":"InternalIP","address":"{}"}}]}}}})",
                         addresses->front().text())});
    workers_.push_back({.name = name, .host = *host, .kubeconfig = {}, .agent = nullptr});
    start_agent(workers_.back());
    return workers_.back();
  }
  void start_agent(Worker& worker) {
    std::string pod;
    ASSERT_TRUE(eventually("a pod is bound to " + worker.name, kBound, [&] {
      const auto found = install::cluster().kubectl(
          {"get", "pods", "-n", kNamespace, "-l", "app=iprule-agent", "-o",
           fmt::format("jsonpath={{.items[?(@.spec.nodeName==\"{}\")].metadata.name}}", worker.name)});
      pod = found.value_or("");
      pod = pod.substr(0, pod.find(' '));  // One that ends may be there beside the next.
      return !pod.empty();
    }));
    const auto account = install::cluster().service_account(kNamespace, "iprule-agent", pod);
    ASSERT_TRUE(account) << account.error().message();
    worker.kubeconfig = install::cluster().kubeconfig(*account);
    start_container(worker);
  }
  // Again, in the same pod.
  static void start_container(Worker& worker) {
    auto started = worker.host->start({.arguments = {IPRULE_AGENT, "--kubeconfig", worker.kubeconfig.native()},
                                       .environment = {"NODE_NAME=" + worker.name, "POD_NAMESPACE=" + kNamespace}});
    ASSERT_TRUE(started) << started.error().message();
    worker.agent = *started;
  }
  // As the kubelet ends a pod.
  static void stop_agent(Worker& worker) {
    worker.agent->signal(SIGTERM);
    const auto ended = worker.agent->wait_exit(kBound);
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_TRUE(ended->ok()) << ended->text();
  }

  static void put_rule(const std::string& name, const std::string& cidr, int table, const std::string& more = "") {
    kubectl({"apply", "-f", "-"},
            fmt::format("apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: IPRule\nmetadata: {{name: {}}}\n"
                        "spec: {{cidrs: [{}], table: {}, priority: 1000{}}}\n",
                        name, cidr, table, more));
  }
  // Without a selector, so that nobody but the test has a say in its endpoints; returns its ClusterIP.
  static std::string put_service(const std::string& name, const std::string& vip) {
    kubectl({"apply", "-f", "-"},
            fmt::format("apiVersion: v1\nkind: Service\nmetadata: {{name: {}, namespace: default}}\n"
                        "spec: {{type: LoadBalancer, ports: [{{port: 80}}]}}\n",
                        name));
    kubectl({"patch", "service", name, "--subresource=status", "--type=merge", "-p",
             fmt::format(R"({{"status":{{"loadBalancer":{{"ingress":[{{"ip":"{}"}}]}}}}}})", vip)});
    return kubectl({"get", "service", name, "-o", "jsonpath={.spec.clusterIP}"});
  }
  static void delete_service(const std::string& name) { kubectl({"delete", "service", name}); }

  static std::string ip(const Worker& worker, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "ip");
    const auto done = testbed::run({.arguments = std::move(arguments), .network = worker.host->network()}, 10s);
    EXPECT_TRUE(done && done->exit.ok());
    return done ? done->output : "";
  }
  static std::string rules(const Worker& worker) { return ip(worker, {"rule"}); }
  static bool has(const Worker& worker, const std::string& source, int table) {
    return rules(worker).contains(fmt::format("1000:\tfrom {} lookup {} proto 183\n", source, table));
  }
  static testing::AssertionResult appears(const Worker& worker, const std::string& source, int table = 100,
                                          base::Duration bound = kBound) {
    return eventually(fmt::format("{} is steered on {}", source, worker.name), bound,
                      [&] { return has(worker, source, table); });
  }
  static testing::AssertionResult goes(const Worker& worker, const std::string& source, base::Duration bound = kBound) {
    return eventually(fmt::format("{} is no longer steered on {}", source, worker.name), bound,
                      [&] { return !rules(worker).contains("from " + source + " "); });
  }

  // Everything that changes among a node's rules from now on, a line each.
  static testbed::Process& watch_rules(const Worker& worker) {
    auto monitor = worker.host->start({.arguments = {"ip", "monitor", "rule"}});
    EXPECT_TRUE(monitor) << monitor.error().message();
    // It tells of what comes after it has begun: one that is nobody's business shows that it has.
    EXPECT_TRUE(eventually("changes of rules are seen", kBound, [&] {
      ip(worker, {"rule", "add", "from", "10.9.9.9", "lookup", "9", "priority", "9"});
      ip(worker, {"rule", "del", "from", "10.9.9.9", "lookup", "9", "priority", "9"});
      return (*monitor)->output().contains("Deleted 9:");
    }));
    return **monitor;
  }

  // The sources of the objects there are, withdrawn ones included.
  static std::string published() {
    return kubectl({"get", "ipruleconfigs", "-o", "jsonpath={.items[*].spec.serviceIP}"});
  }

  std::optional<lab::World> world_;
  std::optional<install::Controller> controller_;
  std::list<Worker> workers_;
};

}  // namespace cluster_test
