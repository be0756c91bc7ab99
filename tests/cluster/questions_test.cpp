// What iprulectl answers from the objects of a cluster: plan, diff, doctor, drift, explain, and waiting.
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "testbed/cluster.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::string_view kWorld = R"(
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
)";

std::string rule(std::string_view mode) {
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
    patch_status(
        "nodestate", "worker-1",
        R"({"token":"t1","sync":"InSync","facts":{"kernel":"6.12","serviceProxy":"nftables","conntrack":true,"localRulePriority":0},"settled":[{"kind":"IPRuleConfig","epoch":1}]})");
    patch_status(
        "nodestate", "worker-2",
        R"({"token":"t2","sync":"InSync","facts":{"kernel":"6.12","serviceProxy":"nftables","conntrack":true,"localRulePriority":0},"settled":[{"kind":"IPRuleConfig","epoch":1}],"conditions":[{"type":"Drifting","status":"True","reason":"Repeating","message":"5 repairs in a minute \u001b[2J","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]})");
  }
  // The cluster is shared with other suites.
  static void TearDownTestSuite() {
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
    const auto done = testbed::run({.arguments = std::move(words)}, 60s);
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(testbed::Finished());
  }
  std::string file(std::string_view text) {
    EXPECT_TRUE(base::write_file(folder_ / "x.yaml", text));
    return (folder_ / "x.yaml").native();
  }

  testbed::TempFolder folder_;
};

TEST_F(Questions, plan_lays_manifests_over_the_cluster_and_folds_nodes_that_are_alike) {
  const auto done = ask({"plan", "-f", file(rule("Reply"))});
  EXPECT_EQ(done.exit.code, 1) << done.errors;
  EXPECT_EQ(done.output,
            "worker-1, worker-2 (2 alike)\n"
            "  + IPv4 rule 999: from all fwmark 0x100/0x3f00 lookup main suppress_prefixlength 0 proto 183\n"
            "  + IPv4 rule 1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183\n"
            "  + table inet iprule\n"
            "  + chain reply01 mark 0x100/0x3f00\n"
            "  + element vip4 203.0.113.45 : goto reply01\n"
            "Plan: 5 to add, 0 to change, 0 to delete\n"
            "2 of 2 nodes would change, as far as objects tell: no kernel was asked.\n");
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  const auto again = ask({"plan", "-f", file(rule("Reply"))});
  EXPECT_EQ(again.exit.code, 0) << again.output;
  EXPECT_EQ(again.output, "0 of 2 nodes would change, as far as objects tell: no kernel was asked.\n");
  EXPECT_THAT(ask({"plan", "-f", file(rule("LoadBalancerIP")), "--node", "worker-1", "-o", "json"}).output,
              HasSubstr(R"("kind":"ClusterPlan","groups":[{"nodes":["worker-1"],"plan":{)"));
}

TEST_F(Questions, a_node_that_is_not_there_is_named_with_the_nearest) {
  const auto done = ask({"plan", "-f", file(rule("Reply")), "--node", "worker-l"});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_EQ(done.errors, "iprulectl: --node: there is no node \"worker-l\"; did you mean \"worker-1\"?\n");
}

TEST_F(Questions, diff_tells_what_nodes_have_not_reported) {
  EXPECT_EQ(ask({"diff"}).exit.code, 0);
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRuleConfig
metadata: {name: iprc-test}
spec: {serviceIP: 203.0.113.45, table: 0, routeTable: 100, priority: 1000, state: present, sourceMode: Reply}
)");
  const auto done = ask({"diff", "--node", "worker-1"});
  EXPECT_EQ(done.exit.code, 1) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("worker-1  by its report"));
  EXPECT_THAT(done.output,
              HasSubstr("  +  IPRuleConfig/iprc-test  Reply 203.0.113.45 table 100 priority 1000  not reported yet\n"
                        "Diff: 1 of 1 nodes differ, as far as reports tell: no kernel was asked.\n"));
}

TEST_F(Questions, doctor_advises_by_what_agents_reported) {
  const auto done = ask({"doctor"});
  EXPECT_THAT(done.output, HasSubstr("worker-1, worker-2 (2 alike), by what its agent reported\n"));
  EXPECT_THAT(done.output, HasSubstr("kube-proxy nftables: replies are routed with the pod's address\n"));
  EXPECT_THAT(done.output, HasSubstr("Works here: Reply (recommended), LocalEndpoints.  Cannot work: ClusterIP"));
}

TEST_F(Questions, drift_names_the_nodes_and_obeys_nothing_they_say) {
  const auto done = ask({"drift"});
  EXPECT_EQ(done.exit.code, 1) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("Repeating  5 repairs in a minute \\x1b[2J\n"));
  EXPECT_THAT(done.output, HasSubstr("1 of 2 nodes report that others change what is ours, or stand beside it.\n"));
  EXPECT_EQ(ask({"drift", "--node", "worker-1"}).exit.code, 0);
}

TEST_F(Questions, a_service_is_explained_by_name_and_by_address) {
  const auto none = ask({"explain", "svc/frontend", "-n", "shop"});
  EXPECT_EQ(none.exit.code, 1) << none.errors;
  EXPECT_THAT(none.output, HasSubstr("Verdict  nothing steers it"));
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  const auto done = ask({"explain", "vip/203.0.113.45"});
  EXPECT_EQ(done.exit.code, 1) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("Service shop/frontend  load balancer 203.0.113.45, ClusterIP "));
  EXPECT_THAT(done.output,
              HasSubstr("IPRule/public-eu  has 203.0.113.45: source Reply 203.0.113.45, table 100, priority "
                        "1000\n  not published yet: is a controller running?\n"));
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRuleConfig
metadata: {name: iprc-test, labels: {managed-by: ip-rule-operator}}
spec: {serviceIP: 203.0.113.45, table: 0, routeTable: 100, priority: 1000, state: present, sourceMode: Reply}
)");
  EXPECT_THAT(ask({"explain", "svc/frontend", "-n", "shop"}).output,
              HasSubstr("  IPRuleConfig/iprc-test  applied on 0/2 nodes\nVerdict  NOT STEERED AS WANTED"));
  const auto wrong = ask({"explain", "svc/fronted", "-n", "shop"});
  EXPECT_EQ(wrong.exit.code, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("did you mean \"frontend\"?"));
}

TEST_F(Questions, waiting_in_vain_has_a_code_of_its_own) {
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  patch_status(
      "iprule", "public-eu",
      R"({"matchedServices":0,"matchedVIPs":0,"shadowedVIPs":0,"configs":0,"conditions":[{"type":"RoutesMissing","status":"True","reason":"EmptyTable","message":"table 100","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]})");
  EXPECT_EQ(ask({"status", "--wait", "1s"}).exit.code, 4);
  kubectl({"delete", "iprules", "--all"});
  EXPECT_EQ(ask({"status", "--wait", "30s"}).exit.code, 0);
}

}  // namespace
