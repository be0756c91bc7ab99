#include "real_node.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/file.h"
#include "testbed/eventually.h"
#include "testbed/machine.h"
#include "testbed/process.h"

namespace node_test {
namespace {

using testbed::eventually;

// One set of pods, which answer on port 8080 of their addresses.
constexpr const char* kAnsweringPods = R"(---
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: {0}, namespace: default}}
spec:
  selector: {{matchLabels: {{app: {0}}}}}
  template:
    metadata: {{labels: {{app: {0}}}}}
    spec:
      hostNetwork: {1}
      tolerations: [{{operator: Exists}}]
      containers:
      - name: echo
        image: testbed.local/echo:1
        args: [$(ADDRESSES)]
        env: [{{name: ADDRESSES, valueFrom: {{fieldRef: {{fieldPath: status.podIPs}}}}}}]
)";

// Local: the node that gets a request answers it. Ready or not: kubelets that get too little of a busy machine call
// their pods unready, and a request that is lost for that says nothing about the agents.
constexpr const char* kService = R"(---
apiVersion: v1
kind: Service
metadata: {{name: {0}, namespace: default}}
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  publishNotReadyAddresses: true
  ipFamilyPolicy: RequireDualStack
  selector: {{app: {0}}}
  ports: [{{port: 8080, protocol: UDP}}]
)";

constexpr const char* kRule = R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {name: public-eu}
spec: {cidrs: [203.0.113.0/24, "2001:db8:113::/64"], table: 100, priority: 1000, source: {modes: [ClusterIP, Reply]}}
)";

const std::vector<std::string> kServices = {"in-pods", "on-hosts"};  // Behind the addresses of the first, second node.

base::Result<std::filesystem::path> build_image(const testbed::TempFolder& folder, const std::string& program,
                                                const std::string& path, const std::string& name) {
  std::filesystem::path archive = folder / (path.substr(1) + ".tar");
  const auto done = TRY(
      testbed::run({.arguments = {(kSource / ".ci/image").native(), program, path, name, archive.native()}}, kBound));
  if (!done.exit.ok()) return base::fail(base::Fault::invalid, name + ": " + done.errors);
  fmt::print("{}", done.output);
  return archive;
}

base::Result<std::vector<std::filesystem::path>> build_images(const testbed::TempFolder& folder) {
  std::string version = TRY(base::read_file(kSource / "VERSION"));
  while (version.ends_with('\n')) version.pop_back();
  std::vector<std::filesystem::path> images;
  images.push_back(TRY(build_image(folder, PAUSE, "/pause", testbed::Node::kPauseImage)));
  images.push_back(TRY(build_image(folder, ECHO, "/echo", "testbed.local/echo:1")));
  images.push_back(TRY(build_image(folder, IPRULE_CONTROLLER, "/manager", "iprule-controller:v" + version)));
  images.push_back(TRY(build_image(folder, IPRULE_AGENT, "/agent", "iprule-agent:v" + version)));
  return images;
}

base::Result<std::unique_ptr<Machines>> start_machines() {
  auto out = std::make_unique<Machines>();
  const auto images = TRY(build_images(out->images));
  out->cluster = TRY(testbed::Cluster::start({.controller_manager = true, .scheduler = true}));
  out->world.emplace(TRY(lab::World::make()));
  out->scene = TRY(lab::Scene::build(*out->world, 2));
  int number = 11;
  for (const lab::SceneNode& node : out->scene->nodes()) {
    out->nodes.push_back(TRY(testbed::Node::start(*out->cluster, *out->world, *node.host, number++, images)));
  }
  TRY(out->cluster->kubectl({"apply", "-f", "-"}, fmt::format(kAnsweringPods, kServices[0], "false") +
                                                      fmt::format(kAnsweringPods, kServices[1], "true")));
  for (const std::string& name : kServices) {
    TRY(out->cluster->kubectl({"rollout", "status", "daemonset/" + name, "--timeout=100s"}));
  }
  return out;
}

Machines* machines() {
  static const std::unique_ptr<Machines> started = [] {
    auto result = start_machines();
    if (!result) fmt::print(stderr, "no nodes for the tests: {}\n", result.error().message());
    return result ? *std::move(result) : nullptr;
  }();
  return started.get();
}

}  // namespace

void RealNode::SetUp() {
  SKIP_UNLESS_MACHINE_HAS("cgroup-v1");
  machines_ = machines();
  ASSERT_NE(machines_, nullptr);
  cluster_ = machines_->cluster.get();
}

void RealNode::TearDown() {
  if (!HasFailure() || machines_ == nullptr) return;
  fmt::print("{}\n", cluster_->kubectl({"get", "pods,daemonsets,agents,events", "-A", "-o", "wide"}).value_or(""));
  for (const auto& node : nodes()) fmt::print("---- {}\n{}\n{}\n", node->name(), rules(*node), node->logs("iprule"));
}

std::string RealNode::kubectl(std::vector<std::string> arguments, std::string input) {
  const auto output = cluster_->kubectl(std::move(arguments), std::move(input));
  EXPECT_TRUE(output) << output.error().message();
  return output.value_or("");
}

void RealNode::make(std::vector<std::string> words) {
  words.insert(words.begin(), {"make", "--no-print-directory", "-C", kSource.native()});
  words.push_back(fmt::format("KUBECTL={} kubectl --kubeconfig {}", cluster_->program().native(),
                              cluster_->admin_kubeconfig().native()));
  const auto done = testbed::run({.arguments = words}, kBound * 2);
  EXPECT_TRUE(done && done->exit.ok()) << words[4] << ": " << (done ? done->errors : done.error().message());
}

std::string RealNode::type(const std::string& commands) {
  const std::string script = fmt::format(
      "set -e\nkubectl() {{ '{}' kubectl --kubeconfig '{}' \"$@\"; }}\nexport -f kubectl\ncd '{}'\n({}) 2>&1",
      cluster_->program().native(), cluster_->admin_kubeconfig().native(), kSource.native(), commands);
  const auto done = testbed::run({.arguments = {"bash", "-c", script}}, kBound * 4);
  EXPECT_TRUE(done && done->exit.ok()) << commands << (done ? done->output : done.error().message());
  return done ? done->output : "";
}

void RealNode::install() {
  if (is_deployed_) return;
  is_deployed_ = has_kinds_ = true;
  kubectl({"apply", "-f", (kSource / "dist/install.yaml").native()});
  kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"});
  ASSERT_TRUE(eventually("both controllers are ready", kBound, [&] {
    return kubectl({"get", "deployment", "ip-rule-operator-controller-manager", "--namespace=" + kNamespace, "-o",
                    "jsonpath={.status.readyReplicas}"}) == "2";
  }));
  kubectl({"apply", "-f", (kSource / "config/samples/agent.yaml").native()});
  ASSERT_TRUE(agents_become_ready());
}

void RealNode::delete_install_file() {
  is_deployed_ = has_kinds_ = false;
  type("kubectl delete -f dist/install.yaml");
}

void RealNode::undeploy() {
  if (std::exchange(is_deployed_, false)) make({"undeploy"});
}

void RealNode::uninstall() {
  undeploy();
  if (std::exchange(has_kinds_, false)) make({"uninstall"});
}

// Of both nodes, in the version that the Agent asks for now.
testing::AssertionResult RealNode::agents_become_ready() {
  return eventually("all agents are ready", kBound, [&] {
    const std::string generations = kubectl({"get", "agent", "agent", "--namespace=" + kNamespace, "-o",
                                             "jsonpath={.metadata.generation} {.status.observedGeneration} "
                                             R"({.status.conditions[?(@.type=="Ready")].reason})"});
    std::istringstream in(generations);
    std::string wanted, seen, reason;
    in >> wanted >> seen >> reason;
    return wanted == seen && reason == "AllReady";
  });
}

std::string RealNode::agent_pods() {
  return kubectl({"get", "pods", "--namespace=" + kNamespace, "--selector=app=iprule-agent", "--sort-by=.metadata.name",
                  "-o", R"(jsonpath={range .items[*]}{.metadata.name}{"\n"}{end})"});
}

std::string RealNode::agent_pod(const testbed::Node& node) {
  return kubectl({"get", "pods", "--namespace=" + kNamespace, "--selector=app=iprule-agent",
                  "--field-selector=spec.nodeName=" + node.name(), "-o", "jsonpath={.items[*].metadata.name}"});
}

void RealNode::publish_services() {
  apply(kRule);
  for (std::size_t i = 0; i < nodes().size(); ++i) publish_service(i);
  for (const auto& node : nodes()) ASSERT_TRUE(rules_become_present(*node));
}

// As a person and a load balancer's controller would.
std::string RealNode::publish_service(std::size_t node) {
  const std::string& name = kServices.at(node);
  apply(fmt::format(kService, name));
  kubectl({"patch", "service", name, "--subresource=status", "--type=merge", "-p",
           fmt::format(R"({{"status":{{"loadBalancer":{{"ingress":[{{"ip":"{}"}},{{"ip":"{}"}}]}}}}}})",
                       scene_node(node).vip[0].text(), scene_node(node).vip[1].text())});
  return kubectl({"get", "service", name, "-o", "jsonpath={.spec.clusterIP}"});
}

void RealNode::withdraw_services() {
  kubectl({"delete", "services", kServices[0], kServices[1], "--ignore-not-found"});
  if (has_kinds_) kubectl({"delete", "iprules", "--all"});
}

std::vector<std::string> RealNode::wanted_rules(net::Family family) {
  const std::string address = fmt::format("jsonpath={{.spec.clusterIPs[{}]}}", family == net::Family::v4 ? 0 : 1);
  std::vector<std::string> out = {"1000:\tfrom all fwmark "};
  for (const std::string& name : kServices) {
    out.push_back(fmt::format("1000:\tfrom {} lookup 100 proto 183", kubectl({"get", "service", name, "-o", address})));
  }
  return out;
}

testing::AssertionResult RealNode::rules_become_present(testbed::Node& node) {
  const auto wanted4 = wanted_rules(net::Family::v4);
  const auto wanted6 = wanted_rules(net::Family::v6);
  return eventually("all rules and marks are in the kernel of " + node.name(), kBound, [&] {
    const auto holds = [](const std::string& found, const std::vector<std::string>& wanted) {
      return std::ranges::all_of(wanted, [&](const auto& line) { return found.contains(line); });
    };
    const std::string marked = marks(node);
    return holds(rules(node, net::Family::v4), wanted4) && holds(rules(node, net::Family::v6), wanted6) &&
           std::ranges::all_of(scene().nodes(), [&](const lab::SceneNode& one) {
             return marked.contains(one.vip[0].text()) && marked.contains(one.vip[1].text());
           });
  });
}

std::string RealNode::rules(testbed::Node& node, net::Family family) {
  return node.run({"ip", family == net::Family::v4 ? "-4" : "-6", "rule"}).value_or("unreadable\n");
}

std::string RealNode::rules(testbed::Node& node) {
  return rules(node, net::Family::v4) + rules(node, net::Family::v6);
}

std::string RealNode::marks(testbed::Node& node) {
  return node.run({"nft", "--handle", "list", "table", "inet", "iprule"}).value_or("");
}

lab::Tally RealNode::ask(std::size_t node, net::Family family, std::chrono::milliseconds bound) {
  const lab::SceneNode& asked = scene_node(node);
  const auto tally = scene().send_requests(asked, lab::of_family(asked.vip, family), kRequests, bound);
  EXPECT_TRUE(tally) << tally.error().message();
  return tally.value_or(lab::Tally{});
}

testing::AssertionResult RealNode::becomes_answered(std::size_t node, net::Family family) {
  return eventually("requests are answered", kBound,
                    [&] { return ask(node, family, std::chrono::milliseconds(500)).answered == kRequests; });
}

base::Result<RuleWatch> RuleWatch::start(testbed::Node& node) {
  RuleWatch watch(node, *TRY(node.host().start({.arguments = {"ip", "monitor", "rule"}})));
  if (!watch.catch_up()) return base::fail(base::Fault::timeout, "ip monitor: " + watch.monitor_->errors());
  return watch;
}

// By a change of ours, made again until it is heard: what came before it has been heard then.
bool RuleWatch::catch_up() {
  const std::string priority = std::to_string(marker_++);
  return eventually("the monitor hears", kBound, [&] {
    for (const char* verb : {"add", "del"}) {
      (void)node_->run({"ip", "rule", verb, "from", "240.0.0.1", "priority", priority});
    }
    return monitor_->output().contains(fmt::format("Deleted {}:", priority));
  });
}

std::string RuleWatch::changes() {
  std::string out = catch_up() ? "" : "the monitor is deaf\n";
  std::istringstream lines(monitor_->output());
  for (std::string line; std::getline(lines, line);) {
    if (!line.contains("from 240.0.0.")) out += line + "\n";
  }
  return out;
}

}  // namespace node_test
