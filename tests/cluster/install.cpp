#include "install.h"

#include <cstdlib>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace install {
namespace {

template <typename T>
auto must(T result) {
  if (!result) throw std::runtime_error(result.error().message());
  return *std::move(result);
}

void apply_to(testbed::Cluster& cluster) {
  must(cluster.kubectl({"apply", "-k", std::string(IPRULE_SOURCE_DIR) + "/config/default"}));
  must(cluster.kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"}));
  // Its pods could run nowhere here; the tests start the program themselves.
  must(cluster.kubectl({"delete", "deployment", "--all", "--namespace=" + kNamespace}));
}

std::unique_ptr<testbed::Cluster> start() {
  // Nodes are mere objects here: nobody is to declare them dead because no kubelet speaks for them.
  auto cluster =
      must(testbed::Cluster::start({.controller_manager = true,
                                    .scheduler = true,
                                    .controller_manager_flags = {"--controllers=*,-node-lifecycle-controller"}}));
  apply_to(*cluster);
  return cluster;
}

}  // namespace

testbed::Cluster& cluster() {
  static const std::unique_ptr<testbed::Cluster> cluster = start();
  return *cluster;
}

void apply() {
  apply_to(cluster());
}

std::filesystem::path kubeconfig(const std::string& account) {
  return cluster().kubeconfig(must(cluster().service_account(kNamespace, account)));
}

std::string kubectl(std::vector<std::string> arguments, std::string input) {
  const auto output = cluster().kubectl(std::move(arguments), std::move(input));
  EXPECT_TRUE(output) << output.error().message();
  return output.value_or("");
}

void add_node(const std::string& name) {
  kubectl(
      {"create", "-f", "-"},
      fmt::format("apiVersion: v1\nkind: Node\nmetadata: {{name: {0}, labels: {{kubernetes.io/os: linux}}}}\n", name));
  kubectl({"taint", "node", name, "node.kubernetes.io/not-ready:NoSchedule-"});
  kubectl({"patch", "node", name, "--subresource=status", "--type=merge", "-p",
           R"({"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"},
                         "conditions":[{"type":"Ready","status":"True"}]}})"});
}

testbed::Answer Controller::probe(const std::string& path) const {
  return testbed::ask({.port = probe_port}, path).value_or(testbed::Answer());
}

double Controller::metric(const std::string& series) const {
  const auto answer = testbed::ask({.port = metrics_port}, "/metrics").value_or(testbed::Answer());
  const std::string line = "\n" + series + " ";
  const auto at = answer.body.find(line);
  return at == std::string::npos ? -1 : std::strtod(answer.body.c_str() + at + line.size(), nullptr);
}

Controller start_controller(std::vector<std::string> flags, std::vector<std::string> environment) {
  const std::uint16_t probe_port = testbed::free_port();
  const std::uint16_t metrics_port = testbed::free_port();
  const std::filesystem::path access = kubeconfig(kManager);  // Of the account as it is now.
  std::vector<std::string> arguments = {IPRULE_CONTROLLER, "--kubeconfig=" + access.native(),
                                        fmt::format("--health-probe-bind-address=127.0.0.1:{}", probe_port),
                                        fmt::format("--metrics-bind-address=127.0.0.1:{}", metrics_port),
                                        "--metrics-secure=false"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  environment.push_back("POD_NAMESPACE=" + kNamespace);
  return {.process =
              must(testbed::Process::start({.arguments = std::move(arguments), .environment = std::move(environment)})),
          .probe_port = probe_port,
          .metrics_port = metrics_port};
}

}  // namespace install
