#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "testbed/cluster.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

// What iprulectl answers from the objects of a cluster. No kubelet runs here, so kernels of nodes cannot be asked: what
// is said then is tested here, the rest in tests/node.
namespace questions {

inline constexpr std::string_view kWorld = R"(
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Node
metadata: {name: worker-1, labels: {site: eu}}
---
apiVersion: v1
kind: Node
metadata: {name: worker-2}
---
apiVersion: v1
kind: Service
metadata: {name: frontend, namespace: shop}
spec: {type: LoadBalancer, ports: [{port: 80}]}
---
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: NodeState
metadata: {name: worker-1}
spec: {token: t1}
---
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: NodeState
metadata: {name: worker-2}
spec: {token: t2}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: default}
---
apiVersion: v1
kind: Pod
metadata: {name: agent-1, namespace: default, labels: {app: iprule-agent}}
spec: {nodeName: worker-1, containers: [{name: agent, image: agent}]}
---
apiVersion: v1
kind: Pod
metadata: {name: agent-2, namespace: default, labels: {app: iprule-agent}}
spec: {nodeName: worker-2, containers: [{name: agent, image: agent}]}
)";

inline std::string rule(std::string_view mode) {
  return fmt::format(R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {{name: public-eu}}
spec: {{cidrs: [203.0.113.0/24], table: 100, priority: 1000, source: {{modes: [{}]}}}}
)",
                     mode);
}

class Questions : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    kubectl({"apply", "-f", std::string(IPRULE_SOURCE_DIR) + "/config/crd/bases"});
    kubectl({"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"});
    kubectl({"apply", "-f", "-"}, std::string(kWorld));
    patch_status("service", "frontend", R"({"loadBalancer":{"ingress":[{"ip":"203.0.113.45"}]}})", "shop");
    for (const char* pod : {"agent-1", "agent-2"}) {
      patch_status("pod", pod, R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}]})");
    }
    patch_status(
        "nodestate", "worker-1",
        R"({"token":"t1","sync":"InSync","facts":{"kernel":"6.12","serviceProxy":"nftables","conntrack":true,"localRulePriority":0},"settled":[{"kind":"IPRuleConfig","epoch":1}]})");
    patch_status(
        "nodestate", "worker-2",
        R"({"token":"t2","sync":"InSync","facts":{"kernel":"6.12","serviceProxy":"nftables","conntrack":true,"localRulePriority":0},"settled":[{"kind":"IPRuleConfig","epoch":1}],"conditions":[{"type":"Drifting","status":"True","reason":"Repeating","message":"5 repairs in a minute \u001b[2J","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]})");
  }
  // The cluster is shared with other suites.
  static void TearDownTestSuite() {
    kubectl({"delete", "pods", "agent-1", "agent-2", "--grace-period=0", "--force"});
    kubectl({"delete", "nodestates,nodes", "--all"});
    kubectl({"delete", "-n", "shop", "service", "frontend"});
  }
  void TearDown() override { kubectl({"delete", "iprules,ipruleconfigs", "--all"}); }

  static testbed::Cluster& cluster() { return testbed::shared_cluster(); }
  static void kubectl(const std::vector<std::string>& words, const std::string& input = "") {
    const auto done = cluster().kubectl(words, input);
    ASSERT_TRUE(done) << done.error().message();
  }
  static void patch_status(const std::string& kind, const std::string& name, const std::string& status,
                           const std::string& ns = "default") {
    kubectl({"patch", kind, name, "-n", ns, "--subresource=status", "--type=merge", "-p",
             fmt::format(R"({{"status":{}}})", status)});
  }

  static testbed::Finished ask(std::vector<std::string> words) {
    words.insert(words.begin(), IPRULECTL);
    words.insert(words.end(), {"--kubeconfig", cluster().admin_kubeconfig().native()});
    const auto done = testbed::run({.arguments = std::move(words)}, std::chrono::seconds(60));
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(testbed::Finished());
  }
  std::string file(std::string_view text) {
    EXPECT_TRUE(base::write_file(folder_ / "x.yaml", text));
    return (folder_ / "x.yaml").native();
  }

  testbed::TempFolder folder_;
};

}  // namespace questions
