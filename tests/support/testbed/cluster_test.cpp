#include "testbed/cluster.h"

#include <chrono>
#include <csignal>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "lab/kubernetes/join.h"
#include "lab/world.h"
#include "testbed/assert_ok.h"
#include "testbed/eventually.h"
#include "testbed/process.h"

namespace testbed {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr auto kBound = 120s;

class ClusterTest : public testing::Test {
 protected:
  Cluster& cluster_ = shared_cluster();

  std::string kubectl(std::vector<std::string> arguments, std::string input = {},
                      const std::filesystem::path& kubeconfig = {}) {
    const auto output = cluster_.kubectl(std::move(arguments), std::move(input), kubeconfig);
    return output ? *output : output.error().message();
  }
};

TEST_F(ClusterTest, the_server_is_the_pinned_version) {
  EXPECT_THAT(kubectl({"version"}), HasSubstr("Server Version: v1."));
}

TEST_F(ClusterTest, nobody_comes_in_without_a_name) {
  const auto answer = ask({.port = cluster_.port(), .authority = cluster_.authority_file()}, "/readyz");
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->status, 401);
}

TEST_F(ClusterTest, rbac_decides_what_a_user_may) {
  const auto somebody = cluster_.kubeconfig(cluster_.user("somebody", {"people"}));
  EXPECT_THAT(kubectl({"auth", "whoami"}, {}, somebody), HasSubstr("somebody"));
  EXPECT_THAT(kubectl({"get", "nodes"}, {}, somebody), HasSubstr("Forbidden"));
  EXPECT_THAT(kubectl({"get", "nodes"}), Not(HasSubstr("Forbidden")));
}

TEST_F(ClusterTest, services_get_addresses_of_both_families) {
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: v1
kind: Service
metadata: {name: both}
spec: {ipFamilyPolicy: RequireDualStack, ports: [{port: 80}], selector: {app: both}}
)");
  EXPECT_THAT(kubectl({"get", "service", "both", "-o", "jsonpath={.spec.clusterIPs}"}),
              testing::AllOf(HasSubstr("10.96."), HasSubstr("fd00:10:96::")));
}

TEST_F(ClusterTest, a_token_bound_to_a_pod_carries_its_node) {
  kubectl({"create", "namespace", "bound"});
  kubectl({"create", "serviceaccount", "agent", "-n", "bound"});
  EXPECT_THAT(kubectl({"apply", "-f", "-"}, R"(
apiVersion: v1
kind: Node
metadata: {name: worker-1}
---
apiVersion: v1
kind: Pod
metadata: {name: agent-x, namespace: bound}
spec: {nodeName: worker-1, serviceAccountName: agent, containers: [{name: agent, image: agent}]}
)"),
              HasSubstr("pod/agent-x created"));
  const auto token = cluster_.service_account("bound", "agent", "agent-x");
  ASSERT_TRUE(token) << token.error().message();
  const auto agent = cluster_.kubeconfig(*token);
  EXPECT_THAT(kubectl({"auth", "whoami", "-o", "json"}, {}, agent),
              testing::AllOf(HasSubstr("system:serviceaccount:bound:agent"), HasSubstr("worker-1")));

  kubectl({"delete", "pod", "agent-x", "-n", "bound", "--force"});
  EXPECT_TRUE(eventually("the token died with its pod", kBound, [&] {
    return kubectl({"auth", "whoami"}, {}, agent).find("nauthorized") != std::string::npos;
  }));
}

TEST_F(ClusterTest, every_request_is_audited) {
  kubectl({"get", "configmap", "looked-for"});
  EXPECT_TRUE(eventually("the audit log names it", kBound, [&] {
    return base::read_file(cluster_.audit_log(), std::size_t{1} << 30U)->contains(R"("name":"looked-for")");
  }));
}

TEST_F(ClusterTest, a_killed_server_comes_back_with_its_data) {
  kubectl({"create", "configmap", "kept"});
  cluster_.api_server().kill();
  EXPECT_THAT(kubectl({"get", "configmap", "kept"}), HasSubstr("refused"));
  ASSERT_OK(cluster_.api_server().restart());
  EXPECT_THAT(kubectl({"get", "configmap", "kept"}), HasSubstr("kept"));
}

TEST_F(ClusterTest, a_frozen_server_takes_requests_and_answers_after_the_thaw) {
  cluster_.api_server().freeze();
  EXPECT_THAT(kubectl({"get", "--raw", "/readyz", "--request-timeout=500ms"}), HasSubstr("exceeded"));
  cluster_.api_server().thaw();
  ASSERT_OK(cluster_.api_server().wait_ready());
}

TEST_F(ClusterTest, after_compaction_an_old_version_is_gone) {
  const auto version = [&] {
    return kubectl({"get", "configmap", "counted", "-o", "jsonpath={.metadata.resourceVersion}"});
  };
  kubectl({"create", "configmap", "counted"});
  const std::string old = version();
  kubectl({"label", "configmap", "counted", "a=b"});
  ASSERT_NE(version(), old);
  ASSERT_OK(cluster_.compact());
  ASSERT_OK(cluster_.api_server().restart());
  const std::string watch = "/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1&resourceVersion=" + old;
  EXPECT_THAT(kubectl({"get", "--raw", watch}), HasSubstr("410"));
}

TEST_F(ClusterTest, a_second_server_shows_the_same_objects) {
  const auto second = cluster_.add_api_server();
  ASSERT_TRUE(second) << second.error().message();
  kubectl({"create", "configmap", "seen-by-both"});
  const auto there = cluster_.kubeconfig(cluster_.user("admin", {"system:masters"}), second->url);
  EXPECT_THAT(kubectl({"get", "configmap", "seen-by-both"}, {}, there), HasSubstr("seen-by-both"));
  second->part->kill();
}

TEST_F(ClusterTest, a_node_in_its_own_namespace_reaches_the_server) {
  auto world = lab::World::make();
  ASSERT_OK(world);
  const auto node = world->add_host("worker-1");
  const auto stranger = world->add_host("stranger");
  ASSERT_TRUE(node && stranger);
  ASSERT_OK(join(*world, **node, cluster_, 11));
  const auto ask_from = [&](const lab::Host& host) {
    return run({.arguments = {cluster_.program(), "kubectl", "--kubeconfig=" + cluster_.admin_kubeconfig().native(),
                              "get", "--raw", "/readyz"},
                .network = host.network()},
               kBound);
  };
  EXPECT_EQ(ask_from(**node)->output, "ok");
  EXPECT_THAT(ask_from(**stranger)->errors, HasSubstr("unreachable"));
}

// How many processes there are, here and in sandboxes below, that serve as `program` of some cluster.
int count_processes(const std::string& program) {
  int count = 0;
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    const auto arguments = base::read_file(process.path() / "cmdline");
    if (arguments && arguments->contains(program + '\0' + "--")) ++count;
  }
  return count;
}

TEST_F(ClusterTest, killing_a_test_run_leaves_no_server) {
  const int etcds = count_processes("etcd");
  const int servers = count_processes("kube-apiserver");
  auto tests =
      Process::start({.arguments = {"/proc/self/exe", "--gtest_filter=ClusterTest.a_killed_*:ClusterTest.a_frozen_*"},
                      .environment = {"IPRULE_KUBERNETES=" + cluster_.program().native()}});
  ASSERT_OK(tests);
  ASSERT_TRUE(eventually("another cluster runs", kBound, [&] {
    return count_processes("etcd") > etcds && count_processes("kube-apiserver") > servers;
  }));
  ::kill(tests->pid(), SIGKILL);
  EXPECT_TRUE(eventually("nothing of it is left", kBound, [&] {
    return count_processes("etcd") == etcds && count_processes("kube-apiserver") == servers;
  }));
}

TEST(ClusterWithControllers, garbage_is_collected_and_pods_are_bound) {
  const auto cluster = Cluster::start({.controller_manager = true, .scheduler = true});
  ASSERT_TRUE(cluster) << cluster.error().message();
  const auto kubectl = [&](std::vector<std::string> arguments, std::string input = {}) {
    const auto output = (*cluster)->kubectl(std::move(arguments), std::move(input));
    return output ? *output : output.error().message();
  };
  EXPECT_TRUE(eventually("the default service account is made", kBound,
                         [&] { return kubectl({"get", "serviceaccounts"}).find("default") != std::string::npos; }));
  kubectl({"create", "configmap", "owner"});
  const std::string uid = kubectl({"get", "configmap", "owner", "-o", "jsonpath={.metadata.uid}"});
  kubectl({"apply", "-f", "-"}, fmt::format(R"(
apiVersion: v1
kind: ConfigMap
metadata: {{name: owned, ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: owner, uid: {}}}]}}
---
apiVersion: v1
kind: Node
metadata: {{name: worker-1}}
---
apiVersion: v1
kind: Pod
metadata: {{name: placed}}
spec: {{tolerations: [{{operator: Exists}}], containers: [{{name: c, image: i}}]}}
)",
                                            uid));
  kubectl({"patch", "node", "worker-1", "--subresource=status", "-p",
           R"({"status":{"allocatable":{"pods":"10","cpu":"1","memory":"1Gi"}}})"});
  kubectl({"delete", "configmap", "owner"});
  EXPECT_TRUE(eventually("the owned object follows its owner", kBound,
                         [&] { return kubectl({"get", "configmap", "owned"}).find("NotFound") != std::string::npos; }));
  EXPECT_TRUE(eventually("the pod has a node", kBound, [&] {
    return kubectl({"get", "pod", "placed", "-o", "jsonpath={.spec.nodeName}"}) == "worker-1";
  }));
}

}  // namespace
}  // namespace testbed
