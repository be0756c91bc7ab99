// `iprulectl status` against a real API server: what it shows, and what it says when it cannot ask.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
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
    (void)cluster().kubectl({"delete", "iprules,nodestates", "--all"});  // For the next test; the cluster ends anyway.
  }

  static testbed::Cluster& cluster() { return testbed::shared_cluster(); }
  static testbed::Finished status(const std::filesystem::path& kubeconfig, std::vector<std::string> flags = {}) {
    std::vector<std::string> arguments = {IPRULECTL, "status", "--kubeconfig", kubeconfig.native()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const auto done = testbed::run({.arguments = std::move(arguments)}, 60s);
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(testbed::Finished());
  }
  static void apply(const std::string& manifest) {
    const auto done = cluster().kubectl({"apply", "-f", "-"}, manifest);
    ASSERT_TRUE(done) << done.error().message();
  }
};

TEST_F(ClusterStatus, an_empty_cluster_is_healthy_and_says_that_no_agents_run) {
  const auto done = status(cluster().admin_kubeconfig());
  EXPECT_EQ(done.exit.code, 0) << done.output << done.errors;
  EXPECT_EQ(done.output,
            "      COMPONENT          READY  DETAIL\n"
            "  --  iprule-controller  -      nobody leads\n"
            "  --  iprule-agent       0/0    no Agent object: no agents run\n"
            "      JOB            OBJECTS                     NODES  STATE\n"
            "  ok  service rules  0 IPRules, 0 IPRuleConfigs  0/0    in sync\n"
            "Healthy.\n");
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
  EXPECT_THAT(done.output, HasSubstr("IPRule/public-eu  -      EmptyTable: table 100 has no IPv4 route \\x1b[2J"));
  EXPECT_THAT(done.output, HasSubstr("Not healthy: 1 problem.  Next: iprulectl explain IPR0311\n"));
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
  EXPECT_THAT(done.output, HasSubstr("  !!  iprule-controller  -      leader controller-x2x\n"));
  EXPECT_THAT(done.output, HasSubstr("has given no sign of life"));
  (void)cluster().kubectl({"delete", "lease", "fed43742.brtrm.dev"});
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
