// The page about taking over from the old project, command by command, on nodes that look as that project leaves them;
// and the way back.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "api/iprule_config.h"
#include "base/file.h"
#include "real_node.h"
#include "testbed/eventually.h"

namespace node_test {
namespace {

using testbed::eventually;
using testing::HasSubstr;
using testing::Not;

const std::filesystem::path kOldManifests = kSource / "tests/node/old_project.yaml";
const std::string kOldNamespace = "iprule-system";

// The set of agents as the old manager makes it.
constexpr const char* kOldAgents = R"(
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: iprule-agent
  namespace: iprule-system
  labels: {{app: iprule-agent, app.kubernetes.io/name: ip-rule-operator, managed-by: ip-rule-operator}}
  ownerReferences:
  - {{apiVersion: api.operator.brtrm.dev/v1alpha1, kind: Agent, name: agent, uid: {}, controller: true, blockOwnerDeletion: true}}
spec:
  selector: {{matchLabels: {{app: iprule-agent}}}}
  template:
    metadata: {{labels: {{app: iprule-agent}}, annotations: {{iprule.operator.brtrm.dev/template-hash: "0"}}}}
    spec:
      serviceAccountName: iprule-agent
      hostNetwork: true
      containers: [{{name: agent, image: "testbed.local/pause:1", env: [{{name: RECONCILE_PERIOD, value: 10s}}]}}]
)";

// The lines of the `sh` blocks between a heading of the page and the next one.
std::string commands_under(const std::string& heading) {
  std::istringstream page(base::read_file(kSource / "docs/how-to/take-over.md").value_or(""));
  bool is_under = false;
  bool is_inside = false;
  std::string out;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) is_under = line == "## " + heading;
    if (is_inside && line == "```") is_inside = false;
    if (is_under && is_inside) out += line + "\n";
    if (line == "```sh") is_inside = true;
  }
  return out;
}

class RealNodeTakeOver : public RealNode {
 protected:
  void SetUp() override {
    RealNode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    withdraw_services();
    uninstall();
    lay_out_old_install();
    for (const auto& node : nodes()) {
      auto watch = RuleWatch::start(*node);
      ASSERT_TRUE(watch) << watch.error().message();
      watches_.push_back(*watch);
    }
  }

  void TearDown() override {
    RealNode::TearDown();
    if (IsSkipped() || cluster_ == nullptr) return;
    kubectl({"delete", "-f", kOldManifests.native(), "--ignore-not-found"});
    withdraw_services();
    for (const auto& node : nodes()) {
      EXPECT_TRUE(node->run({IPRULE_AGENT, "cleanup"}));
      EXPECT_THAT(rules(*node), Not(HasSubstr("proto 183")));
      EXPECT_TRUE(node->run({"ip", "rule", "del", "from", "10.96.99.3"}));
    }
  }

  void lay_out_old_install() {
    kubectl({"apply", "-f", kOldManifests.native()});
    kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"});
    apply(
        "apiVersion: coordination.k8s.io/v1\nkind: Lease\n"
        "metadata: {name: fed43742.brtrm.dev, namespace: iprule-system}\n"
        "spec: {holderIdentity: old-manager, leaseDurationSeconds: 15, leaseTransitions: 1}\n");
    apply(
        "apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: Agent\n"
        "metadata: {name: agent, namespace: iprule-system}\nspec: {}\n");
    apply(
        "apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: IPRule\nmetadata: {name: public-eu}\n"
        "spec: {cidr: 203.0.113.0/24, table: 100, priority: 1000}\n");
    start_old_agents("create");
    source_ = publish_service(0);

    publish_as_old(source_, 100, "present", "cleanup.iprule.agent.brtrm.dev/worker-1");  // Of an earlier life.
    publish_as_old("10.96.99.1", 100, "absent", "cleanup.iprule.agent.brtrm.dev/worker-1");
    publish_as_old("10.96.99.2", 0, "absent");
    for (const auto& node : nodes()) {
      add_old_rule(*node, source_);
      add_old_rule(*node, "10.96.99.3");  // No object speaks of it.
    }
    add_old_rule(*nodes()[1], "10.96.99.1");
  }

  void start_old_agents(const std::string& verb) {
    const std::string uid = kubectl({"get", "agent", "agent", "-n", kOldNamespace, "-o", "jsonpath={.metadata.uid}"});
    kubectl({verb, "--field-manager=manager", "-f", "-"}, fmt::format(kOldAgents, uid));
    kubectl({"rollout", "status", "daemonset/iprule-agent", "-n", kOldNamespace, "--timeout=80s"});
  }

  void publish_as_old(const std::string& source, int table, const std::string& state,
                      const std::string& mark = "note") {
    const std::string uid = kubectl({"get", "iprule", "public-eu", "-o", "jsonpath={.metadata.uid}"});
    api::IPRuleConfig config;
    config.spec = {.service_ip = source, .table = static_cast<std::uint32_t>(table), .priority = 1000};
    std::string name = "iprc-" + source;
    std::ranges::replace(name, '.', '-');
    kubectl({"create", "-f", "-"}, fmt::format(R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRuleConfig
metadata:
  name: {}
  labels: {{managed-by: ip-rule-operator}}
  annotations: {{iprule.operator.brtrm.dev/spec-hash: "{}", {}: done}}
  ownerReferences: [{{apiVersion: api.operator.brtrm.dev/v1alpha1, kind: IPRule, name: public-eu, uid: {}, controller: true, blockOwnerDeletion: true}}]
spec: {{serviceIP: {}, table: {}, priority: 1000, state: {}}}
)",
                                               name, api::spec_hash(config.spec), mark, uid, source, table, state));
  }

  static void add_old_rule(testbed::Node& node, const std::string& source) {
    EXPECT_TRUE(node.run({"ip", "rule", "add", "from", source, "lookup", "100", "priority", "1000"}));
  }

  // As a reader of the page types it, in the folder of the sources; but no registry is here, and the old manifests lie
  // where they lie.
  void follow(std::string commands) {
    const auto replace = [&](std::string_view from, const std::string& to) {
      for (auto at = commands.find(from); at != std::string::npos; at = commands.find(from, at + to.size())) {
        commands.replace(at, from.size(), to);
      }
    };
    replace("REGISTRY=registry.example/net/", "");
    replace("OLD-MANIFESTS.yaml", "'" + kOldManifests.native() + "'");
    (void)type(commands);
  }

  // The fewest rules that stood for the source at any time, if there was one at the beginning.
  int fewest(RuleWatch& watch) {
    int now = 1;
    int least = 1;
    std::istringstream changes(watch.changes());
    for (std::string line; std::getline(changes, line);) {
      if (!line.contains(fmt::format("from {} lookup 100", source_))) continue;
      now += line.starts_with("Deleted") ? -1 : 1;
      least = std::min(least, now);
    }
    return least;
  }

  std::string rules_from(testbed::Node& node, const std::string& source) {
    std::string out;
    std::istringstream lines(rules(node));
    for (std::string line; std::getline(lines, line);) {
      if (line.contains(fmt::format("from {} ", source))) out += line + "\n";
    }
    return out;
  }

  std::string source_;  // The Service's ClusterIP.
  std::vector<RuleWatch> watches_;
};

TEST_F(RealNodeTakeOver, the_page_leads_to_our_rules_and_back_without_a_gap) {
  follow(commands_under("Take over"));
  const std::string ours = fmt::format("1000:\tfrom {} lookup 100 proto 183\n", source_);
  for (std::size_t i = 0; i < nodes().size(); ++i) {
    testbed::Node& node = *nodes()[i];
    EXPECT_TRUE(eventually("ours is the only one", kBound, [&] { return rules_from(node, source_) == ours; }))
        << rules(node);
    EXPECT_EQ(fewest(watches_[i]), 1) << node.name() << "\n" << watches_[i].changes();
    EXPECT_TRUE(
        eventually("what was withdrawn is gone", kBound, [&] { return rules_from(node, "10.96.99.1").empty(); }));
    EXPECT_EQ(rules_from(node, "10.96.99.3"), "1000:\tfrom 10.96.99.3 lookup 100\n") << "nobody's to remove";
  }
  EXPECT_TRUE(eventually("what was withdrawn is forgotten", kBound, [&] {
    return kubectl({"get", "ipruleconfigs", "-o", "jsonpath={.items[*].spec.serviceIP}"}) == source_;
  }));
  EXPECT_THAT(kubectl({"get", "ipruleconfigs", "-o", "yaml"}), Not(HasSubstr("cleanup.iprule.agent")));

  std::vector<std::string> before;
  for (RuleWatch& watch : watches_) before.push_back(watch.changes());
  follow(commands_under("Go back"));
  start_old_agents("replace");  // As the old manager does.
  EXPECT_TRUE(eventually("only old agents run", kBound, [&] {
    return kubectl({"get", "pods", "-n", kOldNamespace, "-l", "app=iprule-agent", "-o",
                    "jsonpath={.items[*].spec.containers[0].image}"}) == "testbed.local/pause:1 testbed.local/pause:1";
  }));
  for (std::size_t i = 0; i < nodes().size(); ++i) {
    EXPECT_EQ(rules_from(*nodes()[i], source_), ours);
    EXPECT_EQ(watches_[i].changes(), before[i]) << nodes()[i]->name();
  }
  // An old agent may acknowledge again, in its own way.
  kubectl({"annotate", "ipruleconfigs", "--all", "cleanup.iprule.agent.brtrm.dev/worker-2=done",
           "--as=system:serviceaccount:iprule-system:iprule-agent"});
}

}  // namespace
}  // namespace node_test
