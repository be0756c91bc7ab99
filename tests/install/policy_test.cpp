// What roles cannot say and admission policies do, tried with real tokens on the real API server.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "install.h"

namespace install_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kForbidden = "Forbidden";
constexpr const char* kConfig = R"(apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRuleConfig
metadata: {{name: {}, labels: {{managed-by: ip-rule-operator}}}}
spec: {{serviceIP: 10.96.44.9, table: 120, priority: 1500, state: present}}
)";

class Policy : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    testbed::Cluster& cluster = installed();
    for (const std::string node : {"worker-a", "worker-b"}) {
      must(cluster.kubectl({"apply", "-f", "-"}, fmt::format(R"(
apiVersion: v1
kind: Node
metadata: {{name: {0}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: agent-on-{0}, namespace: {1}}}
spec: {{nodeName: {0}, serviceAccountName: iprule-agent, containers: [{{name: agent, image: x}}]}}
)",
                                                             node, kNamespace)));
      must(cluster.kubectl(
          {"apply", "--as=" + kControllerUser, "-f", "-"},
          "apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: NodeState\nmetadata: {name: " + node + "}\n"));
    }
    const bool watched = testbed::eventually("the policies count", kBound, [&] {
      return !cluster.kubectl({"create", "--dry-run=server", "-f", "-"}, fmt::format(kConfig, "probe"));
    });
    ASSERT_TRUE(watched);
  }

  std::filesystem::path agent_on(const std::string& node) {
    return cluster_.kubeconfig(must(cluster_.service_account(kNamespace, "iprule-agent", "agent-on-" + node)));
  }

  // Empty if the server did it, else what it said.
  std::string verdict(std::vector<std::string> arguments, std::string input = {},
                      const std::filesystem::path& kubeconfig = {}) {
    const auto answer = cluster_.kubectl(std::move(arguments), std::move(input), kubeconfig);
    return answer ? "" : answer.error().message();
  }
  // As the agent sends it. kubectl would read the status first, which an agent may not.
  static std::string report(const std::string& node, const std::filesystem::path& kubeconfig) {
    const auto answer = api_test::connect(kubeconfig)
                            ->patch_status({"api.operator.brtrm.dev", "v1alpha1", "nodestates", false}, {"", node},
                                           kube::PatchType::merge, R"({"status":{"version":"test"}})", soon());
    return answer ? "" : answer.error().message();
  }

  testbed::Cluster& cluster_ = installed();
};

TEST_F(Policy, an_agent_reports_for_its_own_node_only) {
  const auto agent = agent_on("worker-a");
  EXPECT_EQ(report("worker-a", agent), "");
  EXPECT_THAT(report("worker-b", agent), HasSubstr("their own node only"));
  EXPECT_EQ(report("worker-b", agent_on("worker-b")), "");
}

TEST_F(Policy, an_agents_token_without_a_pod_is_worth_nothing) {
  const auto unbound = cluster_.kubeconfig(must(cluster_.service_account(kNamespace, "iprule-agent")));
  EXPECT_THAT(report("worker-a", unbound), HasSubstr("not bound to a node"));
}

// Roles grow by accident; the policy is what still holds then.
TEST_F(Policy, D45_a_generous_role_gives_a_stolen_agent_token_nothing_to_write) {
  must(cluster_.kubectl(
      {"create", "clusterrole", "generous", "--verb=*", "--resource=*.api.operator.brtrm.dev,leases"}));
  must(cluster_.kubectl({"create", "clusterrolebinding", "generous", "--clusterrole=generous",
                         "--serviceaccount=" + kNamespace + ":iprule-agent"}));
  const auto agent = agent_on("worker-a");
  const std::string rule =
      "apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: IPRule\nmetadata: {name: stolen}\n"
      "spec: {cidrs: [0.0.0.0/0], table: 9}\n";
  EXPECT_TRUE(testbed::eventually("the role counts", kBound, [&] {
    return verdict({"auth", "can-i", "create", "iprules.api.operator.brtrm.dev"}, "", agent).empty();
  }));
  EXPECT_THAT(verdict({"create", "-f", "-"}, rule, agent), HasSubstr("their own node only"));
  EXPECT_THAT(verdict({"create", "-f", "-"}, fmt::format(kConfig, "stolen"), agent), HasSubstr(kForbidden));
  EXPECT_THAT(verdict({"delete", "nodestate", "worker-a"}, "", agent), HasSubstr("their own node only"));
  EXPECT_THAT(verdict({"patch", "nodestate", "worker-a", "--type=merge", "-p", R"({"spec":{"token":"x"}})"}, "", agent),
              HasSubstr(kForbidden));
  EXPECT_THAT(
      verdict({"create", "-f", "-"},
              "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: fed43742.brtrm.dev, namespace: " +
                  kNamespace + "}\n",
              agent),
      HasSubstr("their own node only"));
  must(cluster_.kubectl({"delete", "clusterrolebinding,clusterrole", "generous"}));
}

TEST_F(Policy, D50_published_objects_are_written_by_the_controller_only) {
  const std::string text = fmt::format(kConfig, "iprc-10-96-44-9");
  EXPECT_THAT(verdict({"create", "-f", "-"}, text),
              AllOf(HasSubstr(kForbidden), HasSubstr("change the IPRule it comes from")));
  EXPECT_EQ(verdict({"create", "--as=" + kControllerUser, "-f", "-"}, text), "");

  const auto patch = [&](const std::string& what, const std::string& as) {
    return verdict({"patch", "ipruleconfig", "iprc-10-96-44-9", "--type=merge", "-p", what, "--as=" + as,
                    "--as-group=system:masters"});
  };
  EXPECT_THAT(patch(R"({"spec":{"table":9}})", "jane"), HasSubstr("change the IPRule it comes from"));
  EXPECT_EQ(patch(R"({"metadata":{"labels":{"note":"a"}}})", "jane"), "");
  EXPECT_EQ(patch(R"({"spec":{"state":"absent"}})", kControllerUser), "");
  EXPECT_EQ(verdict({"delete", "ipruleconfig", "iprc-10-96-44-9"}), "");
}

TEST_F(Policy, during_a_take_over_old_agents_acknowledge_for_their_node_and_change_nothing_else) {
  must(cluster_.kubectl({"apply", "-f", "-"}, render({"default", "components/take-over"})));
  must(cluster_.kubectl({"create", "--as=" + kControllerUser, "-f", "-"}, fmt::format(kConfig, "leaving")));
  const auto agent = agent_on("worker-a");
  const auto patch = [&](const std::string& what) {
    return verdict({"patch", "ipruleconfig", "leaving", "--type=merge", "-p", what}, "", agent);
  };
  const auto annotate = [&](const std::string& key) {
    return patch(R"({"metadata":{"annotations":{")" + key + R"(":"done"}}})");
  };
  EXPECT_TRUE(testbed::eventually("the role and the policy count", kBound,
                                  [&] { return annotate("cleanup.iprule.agent.brtrm.dev/worker-a").empty(); }));
  EXPECT_THAT(annotate("cleanup.iprule.agent.brtrm.dev/worker-b"), HasSubstr("their own node only"));
  EXPECT_THAT(annotate("iprule.operator.brtrm.dev/spec-hash"), HasSubstr("their own node only"));
  EXPECT_THAT(patch(R"({"metadata":{"labels":{"managed-by":null}}})"), HasSubstr("their own node only"));
  EXPECT_THAT(patch(R"({"metadata":{"finalizers":["a.b/c"]}})"), HasSubstr("their own node only"));
  EXPECT_THAT(patch(R"({"spec":{"table":9}})"), HasSubstr(kForbidden));
  must(cluster_.kubectl({"annotate", "ipruleconfig", "leaving", "note=a"}));
  EXPECT_THAT(patch(R"({"metadata":{"annotations":{"note":null}}})"), HasSubstr("their own node only"));
  EXPECT_EQ(report("worker-a", agent), "");

  must(cluster_.kubectl({"apply", "-f", (kSource / "dist/install.yaml").native()}));
  must(cluster_.kubectl({"delete", "ipruleconfig", "leaving"}));
}

constexpr const char* kDaemonSet = R"(apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: {name}, namespace: ip-rule-operator-system}}
spec:
  selector: {{matchLabels: {{app: iprule-agent}}}}
  template:
    metadata: {{labels: {{app: iprule-agent}}}}
    spec:
      serviceAccountName: {account}
      hostNetwork: true
      {pod}
      containers:
      - name: agent
        image: {image}
        securityContext: {{{security}}}
)";
constexpr const char* kSecure =
    "allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsUser: 0, "
    "capabilities: {drop: [ALL], add: [NET_ADMIN]}";

struct DaemonSet {
  std::string name = "iprule-agent";
  std::string account = "iprule-agent";
  std::string pod = "dnsPolicy: ClusterFirstWithHostNet";
  std::string image = "iprule-agent:v1";
  std::string security = kSecure;

  std::string yaml() const {
    return fmt::format(kDaemonSet, fmt::arg("name", name), fmt::arg("account", account), fmt::arg("pod", pod),
                       fmt::arg("image", image), fmt::arg("security", security));
  }
};

class AgentDaemonSet : public Policy {
 protected:
  std::string deploy(const DaemonSet& set, const std::string& as = kControllerUser) {
    return verdict({"create", "--dry-run=server", "--as=" + as, "-f", "-"}, set.yaml());
  }
};

TEST_F(AgentDaemonSet, the_controller_runs_the_agent_and_nothing_else) {
  EXPECT_EQ(deploy({}), "");
  EXPECT_THAT(deploy({.name = "miner"}), HasSubstr("the DaemonSet iprule-agent under the account iprule-agent only"));
  EXPECT_THAT(deploy({.account = kController}), HasSubstr("under the account iprule-agent only"));
  EXPECT_THAT(deploy({.pod = "hostPID: true"}), HasSubstr("nothing else of the host"));
  EXPECT_THAT(deploy({.pod = "hostIPC: true"}), HasSubstr("nothing else of the host"));
  EXPECT_THAT(deploy({.pod = "initContainers: [{name: a, image: b}]"}), HasSubstr("without init containers"));
  EXPECT_THAT(deploy({.pod = "volumes: [{name: a, hostPath: {path: /etc}}]"}), HasSubstr("no directory of the host"));
  EXPECT_THAT(deploy({.security = "privileged: true, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}"}),
              HasSubstr("no other privilege"));
  EXPECT_THAT(deploy({.security = ""}), HasSubstr("no other privilege"));
  EXPECT_THAT(deploy({.security = "allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, "
                                  "capabilities: {drop: [ALL], add: [NET_ADMIN, SYS_ADMIN]}"}),
              HasSubstr("no other privilege"));
  EXPECT_THAT(deploy({.security = "allowPrivilegeEscalation: false, capabilities: {drop: [ALL], add: [NET_ADMIN]}"}),
              HasSubstr("read-only root"));
}

TEST_F(AgentDaemonSet, people_are_not_concerned) {
  EXPECT_EQ(
      verdict({"create", "--dry-run=server", "-f", "-"}, DaemonSet{.name = "other", .pod = "hostPID: true"}.yaml()),
      "");
}

TEST_F(AgentDaemonSet, with_the_image_list_only_listed_images_run) {
  must(cluster_.kubectl({"apply", "-f", "-"},
                        render({"default", "components/image-list"}, {"AGENT_IMG=registry.example:5000/net/agent:7"})));
  const DaemonSet foreign{.image = "iprule-agent:v1"};
  const DaemonSet listed{.image = "registry.example:5000/net/agent:8"};
  const DaemonSet lookalike{.image = "registry.example:5000/net/agent-not:8"};
  EXPECT_TRUE(testbed::eventually("the list counts", kBound, [&] {
    return deploy(foreign).find("not in the ConfigMap iprule-agent-images") != std::string::npos;
  }));
  EXPECT_EQ(deploy(listed), "");
  EXPECT_THAT(deploy(lookalike), HasSubstr("not in the ConfigMap iprule-agent-images"));

  // Without the list nothing is allowed, rather than everything.
  must(cluster_.kubectl({"delete", "configmap", "iprule-agent-images", "--namespace=" + kNamespace}));
  EXPECT_TRUE(testbed::eventually("the missing list counts", kBound, [&] { return !deploy(listed).empty(); }));
  must(cluster_.kubectl({"apply", "-f", (kSource / "dist/install.yaml").native()}));
}

}  // namespace
}  // namespace install_test
