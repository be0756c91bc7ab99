// `iprulectl status` against a real API server: what it shows, and what it says when it cannot ask.
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "kube/lease.h"
#include "testbed/cluster.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ClusterStatus : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto done = cluster().kubectl({"apply", "-f", std::string(IPRULE_SOURCE_DIR) + "/config/crd/bases"});
    ASSERT_TRUE(done) << done.error().message();
    const auto established =
        cluster().kubectl({"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"});
    ASSERT_TRUE(established) << established.error().message();
  }
  void TearDown() override {
    // For the next test; the cluster ends anyway.
    (void)cluster().kubectl({"delete", "iprules,nodestates", "--all"});
    (void)cluster().kubectl({"delete", "agents,deployments,leases", "--all", "--namespace=default"});
    (void)cluster().kubectl({"delete", "pods", "--all", "--namespace=default", "--grace-period=0", "--force"});
  }

  static testbed::Cluster& cluster() { return testbed::shared_cluster(); }
  static testbed::Finished status(const std::filesystem::path& kubeconfig, std::vector<std::string> flags = {}) {
    std::vector<std::string> arguments = {IPRULECTL, "status", "--kubeconfig", kubeconfig.native()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const auto done = testbed::run({.arguments = std::move(arguments)}, 60s);
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(testbed::Finished());
  }
  static void patch(const std::string& kind, const std::string& name, const std::string& change,
                    const std::vector<std::string>& flags = {}) {
    std::vector<std::string> words = {"patch", kind, name, "-n", "default", "--type=merge", "-p", change};
    words.insert(words.end(), flags.begin(), flags.end());
    const auto done = cluster().kubectl(std::move(words));
    ASSERT_TRUE(done) << done.error().message();
  }
  static void patch_status(const std::string& kind, const std::string& name, const std::string& change) {
    patch(kind, name, fmt::format(R"({{"status":{}}})", change), {"--subresource=status"});
  }
  static std::string agent_status(std::string_view ready, std::string_view reason) {
    return fmt::format(
        R"({{"desiredNumberScheduled":1,"currentNumberScheduled":1,"numberReady":1,"conditions":[
             {{"type":"Ready","status":"{}","reason":"{}","message":"","lastTransitionTime":"2026-01-01T00:00:00Z",
               "observedGeneration":1}}]}})",
        ready, reason);
  }

  static constexpr const char* kCrashes = R"({"phase":"Running",
      "conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2026-01-01T00:00:00Z"}],
      "containerStatuses":[{"name":"agent","image":"agent","imageID":"","ready":false,"restartCount":3,
          "state":{"waiting":{"reason":"CrashLoopBackOff"}},
          "lastState":{"terminated":{"reason":"Error","exitCode":1}}}]})";

  // As a cluster with one node looks when all is done; nobody runs there who would change it.
  static void install_a_healthy_world() {
    apply(fmt::format(R"(
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {{name: fed43742.brtrm.dev, namespace: default}}
spec: {{holderIdentity: controller-x2x, renewTime: "{}"}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: manager
  namespace: default
  labels: &labels {{app.kubernetes.io/name: ip-rule-operator, control-plane: controller-manager}}
spec:
  replicas: 1
  selector: {{matchLabels: *labels}}
  template:
    metadata: {{labels: *labels}}
    spec: {{containers: [{{name: manager, image: "controller:v0.3.0", args: [--leader-elect]}}]}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {{name: default, namespace: default}}
---
apiVersion: v1
kind: Pod
metadata: {{name: iprule-agent-1, namespace: default, labels: {{app: iprule-agent}}}}
spec: {{nodeName: worker-1, containers: [{{name: agent, image: agent}}]}}
---
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: Agent
metadata: {{name: agent, namespace: default}}
---
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: NodeState
metadata: {{name: worker-1}}
)",
                      kube::micro_time(std::chrono::system_clock::now())));
    patch_status("deployment", "manager", R"({"replicas":1,"readyReplicas":1,"availableReplicas":1})");
    patch_status("pod", "iprule-agent-1",
                 R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[]})");
    patch_status("agent", "agent", agent_status("True", "AllReady"));
    patch_status("nodestate", "worker-1", R"({"sync":"InSync","version":"0.3.0","dataplane":"rules"})");
  }

  static void apply(const std::string& manifest) {
    const auto done = cluster().kubectl({"apply", "-f", "-"}, manifest);
    ASSERT_TRUE(done) << done.error().message();
  }
};

TEST_F(ClusterStatus, an_empty_cluster_is_told_in_words) {
  const auto done = status(cluster().admin_kubeconfig());
  EXPECT_EQ(done.exit.code, 1) << done.output << done.errors;
  EXPECT_EQ(done.output, "Nothing of ours is installed here.  Next: iprulectl doctor --preflight\n");
}

TEST_F(ClusterStatus, all_is_well_only_while_everything_is) {
  ASSERT_NO_FATAL_FAILURE(install_a_healthy_world());
  const auto well = status(cluster().admin_kubeconfig());
  EXPECT_EQ(well.exit.code, 0) << well.output << well.errors;
  EXPECT_EQ(well.output,
            "      COMPONENT          READY  VERSION  DETAIL\n"
            "  ok  iprule-controller  1/1    0.3.0    leader controller-x2x\n"
            "  ok  iprule-agent       1/1    0.3.0    Agent/agent AllReady, dataplane auto -> rules\n"
            "      JOB            OBJECTS                     NODES  STATE\n"
            "  ok  service rules  0 IPRules, 0 IPRuleConfigs  1/1    in sync\n"
            "Healthy.\n");

  patch_status("deployment", "manager", R"({"readyReplicas":0,"availableReplicas":0})");
  patch("lease", "fed43742.brtrm.dev", R"({"spec":{"holderIdentity":""}})");
  const auto leaderless = status(cluster().admin_kubeconfig());
  EXPECT_EQ(leaderless.exit.code, 1);
  EXPECT_THAT(leaderless.output, HasSubstr("0/1 ready, nobody leads: changes are not published\n"));
  EXPECT_THAT(leaderless.output, HasSubstr("Next: kubectl get pods -o wide -n default -l "));

  ASSERT_NO_FATAL_FAILURE(install_a_healthy_world());
  patch_status("pod", "iprule-agent-1", kCrashes);
  const auto dead = status(cluster().admin_kubeconfig());
  EXPECT_EQ(dead.exit.code, 1);
  EXPECT_THAT(dead.output, HasSubstr("  worker-1  its agent crashes: Error, exit code 1"));
  EXPECT_THAT(dead.output, HasSubstr("  0/1    1 unknown\n"));
  const auto row = status(cluster().admin_kubeconfig(), {"--nodes", "--no-headers"});
  EXPECT_EQ(row.exit.code, 1);
}

TEST_F(ClusterStatus, to_wait_is_to_wait_for_the_end_of_a_roll_out) {
  ASSERT_NO_FATAL_FAILURE(install_a_healthy_world());
  patch_status("agent", "agent", agent_status("False", "Progressing"));
  EXPECT_EQ(status(cluster().admin_kubeconfig(), {"--wait", "1s", "-q"}).exit.code, 4);
  patch_status("agent", "agent", agent_status("True", "AllReady"));
  EXPECT_EQ(status(cluster().admin_kubeconfig(), {"--wait", "-q"}).exit.code, 0) << "a usual time needs no word";

  apply(R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {name: public-eu}
spec: {cidrs: [203.0.113.0/24], table: 100}
)");
  EXPECT_EQ(status(cluster().admin_kubeconfig(), {"-q"}).exit.code, 0) << "nothing is wrong";
  EXPECT_EQ(status(cluster().admin_kubeconfig(), {"--wait=1s", "-q"}).exit.code, 4) << "and it is not done";
}

TEST_F(ClusterStatus, who_may_not_see_leases_or_pods_is_not_told_that_all_is_well) {
  ASSERT_NO_FATAL_FAILURE(install_a_healthy_world());
  apply(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: looks-at-objects}
rules: [{apiGroups: [api.operator.brtrm.dev], resources: ["*"], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: looks-at-objects}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: looks-at-objects}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: looker}]
)");
  const auto done = status(cluster().kubeconfig(cluster().user("looker")));
  EXPECT_EQ(done.exit.code, 3) << done.output;
  EXPECT_THAT(done.output, HasSubstr("  ?   iprule-controller  -      -        who leads could not be asked\n"));
  EXPECT_THAT(done.output, HasSubstr("Not asked: leases.coordination.k8s.io: "));
  EXPECT_THAT(done.output, HasSubstr("Not asked: pods: "));
  EXPECT_THAT(done.output, Not(HasSubstr("Healthy")));
}

TEST_F(ClusterStatus, a_condition_is_a_problem_with_its_code_and_next_step) {
  apply(R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {name: public-eu}
spec: {cidrs: [203.0.113.0/24], table: 100}
)");
  const auto patched = cluster().kubectl(
      {"patch", "iprule", "public-eu", "--subresource=status", "--type=merge", "-p",
       R"({"status":{"matchedServices":0,"matchedVIPs":0,"shadowedVIPs":0,"configs":0,"conditions":[{"type":"RoutesMissing","status":"True","reason":"EmptyTable","message":"table 100 has no IPv4 route \u001b[2J on worker-3","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]}})"});
  ASSERT_TRUE(patched) << patched.error().message();
  const auto done = status(cluster().admin_kubeconfig());
  EXPECT_EQ(done.exit.code, 1) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("IPRule/public-eu   -      EmptyTable: table 100 has no IPv4 route \\x1b[2J"));
  EXPECT_THAT(done.output, HasSubstr("iprule-controller  -      it is not installed: nothing is published"));
  EXPECT_THAT(done.output, HasSubstr("Not healthy: 3 problems.  Next: iprulectl doctor --preflight\n"));
  EXPECT_THAT(done.output, Not(HasSubstr("\x1b")));
  EXPECT_THAT(status(cluster().admin_kubeconfig(), {"-o", "json"}).output, HasSubstr(R"("code":"IPR0311")"));
}

TEST_F(ClusterStatus, the_leader_is_found_by_the_controllers_lease) {
  apply(R"(
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: fed43742.brtrm.dev, namespace: default}
spec: {holderIdentity: controller-x2x, renewTime: "2026-01-01T00:00:00.000000Z"}
)");
  const auto done = status(cluster().admin_kubeconfig());
  EXPECT_EQ(done.exit.code, 1) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("  !!  iprule-controller  -      -        leader controller-x2x\n"));
  EXPECT_THAT(done.output, HasSubstr("has given no sign of life"));
}

TEST_F(ClusterStatus, who_may_not_look_is_told_what_was_not_asked_and_3) {
  const auto nobody = cluster().kubeconfig(cluster().user("nobody"));
  const auto done = status(nobody);
  EXPECT_EQ(done.exit.code, 3);
  EXPECT_THAT(done.output, HasSubstr("Not asked: agents.api.operator.brtrm.dev: "));
  EXPECT_THAT(done.output, HasSubstr("nobody"));
  EXPECT_THAT(done.output, Not(HasSubstr("Healthy")));
}

TEST_F(ClusterStatus, a_server_that_is_not_there_is_asked_once_and_named) {
  const auto nowhere = cluster().kubeconfig(cluster().user("admin", {"system:masters"}), "https://127.0.0.1:1");
  const auto done = status(nowhere, {"--request-timeout", "3s"});
  EXPECT_EQ(done.exit.code, 3);
  EXPECT_THAT(done.output, HasSubstr("Not asked: agents.api.operator.brtrm.dev: "));
  EXPECT_THAT(done.output, HasSubstr("127.0.0.1"));
}

TEST_F(ClusterStatus, a_kubeconfig_that_is_not_there_is_named) {
  const auto done = status("/nonexistent/config");
  EXPECT_EQ(done.exit.code, 3);
  EXPECT_THAT(done.errors, StartsWith("iprulectl: "));
  EXPECT_THAT(done.errors, HasSubstr("/nonexistent/config"));
}

}  // namespace
