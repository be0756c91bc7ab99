// What iprulectl answers from the objects of a cluster: plan, diff, doctor, drift, explain, and waiting. No kubelet
// runs here, so kernels of nodes cannot be asked: what is said then is tested here, the rest in tests/node.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "testbed/cluster.h"
#include "testbed/eventually.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

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

TEST_F(Questions, plan_of_an_agent_shows_what_its_settings_would_change) {
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {name: public-eu}
spec: {cidrs: [203.0.113.0/24], table: 100, source: {modes: [LoadBalancerIP]}}
)");
  const auto done = ask({"plan", "--node", "worker-1", "-f", file(R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: Agent
metadata: {name: agent, namespace: default}
spec: {defaultPriority: 900}
)")});
  EXPECT_EQ(done.exit.code, 3) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("+ IPv4 rule 900: from 203.0.113.45 lookup 100"));
  EXPECT_THAT(done.output, HasSubstr("- IPv4 rule 32765: from 203.0.113.45 lookup 100"));
  EXPECT_THAT(done.output, HasSubstr("As far as objects tell: no kernel was asked.\n"
                                     "Not asked: the kernel of worker-1: there is no Agent object"));
}

TEST_F(Questions, plan_lays_manifests_over_the_cluster_and_folds_nodes_that_are_alike) {
  const auto done = ask({"plan", "-f", file(rule("Reply"))});
  EXPECT_EQ(done.exit.code, 1) << done.errors;
  EXPECT_EQ(
      done.output,
      "IPRule/public-eu  new  2 nodes\n"
      "worker-1, worker-2 (2 alike)\n"
      "  + IPv4 rule 999: from all fwmark 0x100/0x3f00 lookup main suppress_prefixlength 0 proto 183\n"
      "  + IPv4 rule 1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183\n"
      "  + table inet iprule\n"
      "  + chain reply01 mark 0x100/0x3f00\n"
      "  + element vip4 203.0.113.45 : goto reply01\n"
      "  ? table 100: whether it has IPv4 routes nobody has looked yet; --node asks\n"
      "Plan: 10 to add, 0 to change, 0 to delete on 2 of 2 nodes. As far as objects tell: no kernel was asked.\n");
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  const auto again = ask({"plan", "-f", file(rule("Reply"))});
  EXPECT_EQ(again.exit.code, 0) << again.output;
  EXPECT_EQ(again.output,
            "Plan: 0 to add, 0 to change, 0 to delete on 0 of 2 nodes. As far as objects tell: no kernel was asked.\n");
  const auto changed = ask({"plan", "-f", file(rule("ClusterIP"))});
  EXPECT_THAT(changed.output, testing::StartsWith("IPRule/public-eu  generation 1 -> 2  spec.source.modes [Reply] -> "
                                                  "[ClusterIP]  2 nodes\n"
                                                  "  ! IPRule/public-eu: no reply carries the source ClusterIP behind "
                                                  "kube-proxy nftables"));
  EXPECT_THAT(ask({"plan", "-f", file(rule("LoadBalancerIP")), "--node", "worker-1", "-o", "json"}).output,
              HasSubstr(R"("kind":"ClusterPlan","groups":[{"nodes":["worker-1"],"source":"objects","plan":{)"));
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
  const auto done = ask({"diff", "-l", "site=eu"});
  EXPECT_EQ(done.exit.code, 1) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("worker-1  by its report"));
  EXPECT_THAT(done.output,
              HasSubstr("  +  IPRuleConfig/iprc-test  Reply 203.0.113.45 table 100 priority 1000  not reported yet\n"
                        "Diff: 1 of 1 nodes differ, as far as reports tell: no kernel was asked.\n"));

  const auto named = ask({"diff", "--node", "worker-1"});
  EXPECT_EQ(named.exit.code, 3) << named.errors;
  EXPECT_THAT(named.output, HasSubstr("Diff: 1 of 1 nodes differ, as far as reports tell: no kernel was asked.\n"
                                      "Not asked: the kernel of worker-1: there is no Agent object"));
}

TEST_F(Questions, every_node_has_a_row_chosen_sorted_and_named_as_kubectl_does_it) {
  const auto all = ask({"status", "--nodes"});
  EXPECT_EQ(all.exit.code, 0) << all.errors;
  EXPECT_THAT(all.output,
              HasSubstr("NODE      SYNC    DATAPLANE  RULES  SOURCES  SINCE  VERSION  PROBLEM\nworker-1  InSync"));
  EXPECT_THAT(all.output, HasSubstr("2 of 2 nodes in sync.\n"));
  EXPECT_THAT(all.output, Not(HasSubstr("KERNEL")));
  EXPECT_THAT(ask({"status", "--nodes", "-o", "wide"}).output, HasSubstr("KERNEL  PROXY\n"));
  EXPECT_EQ(ask({"status", "--nodes", "-o", "name"}).output, "node/worker-1\nnode/worker-2\n");
  EXPECT_EQ(ask({"status", "--nodes", "-o", "name", "-l", "site=eu"}).output, "node/worker-1\n");
  EXPECT_EQ(ask({"status", "--nodes", "-o", "name", "--field-selector", "metadata.name!=worker-1"}).output,
            "node/worker-2\n");
  EXPECT_EQ(ask({"status", "--nodes", "-o", "name", "--sort-by", "{.name}"}).output, "node/worker-1\nnode/worker-2\n");
  const auto rows = ask({"status", "--nodes", "--no-headers", "--node", "worker-2"});
  EXPECT_THAT(rows.output, testing::StartsWith("worker-2  InSync"));
  EXPECT_EQ(std::ranges::count(rows.output, '\n'), 1);

  const auto none = ask({"status", "--nodes", "-l", "site=us"});
  EXPECT_EQ(none.exit.code, 2);
  EXPECT_EQ(none.errors, "iprulectl: -l, --field-selector: no node is selected\n");
  const auto unreadable = ask({"status", "--nodes", "-l", "site in (eu"});
  EXPECT_EQ(unreadable.exit.code, 2) << unreadable.errors;
  EXPECT_EQ(ask({"status", "--nodes", "--sort-by", ".synk"}).errors,
            "iprulectl: --sort-by: no row has a field \".synk\"; did you mean \"sync\"?\n");
  EXPECT_EQ(ask({"doctor", "-l", "site=eu", "--node", "worker-1"}).exit.code, 2) << "either names or a selector";
}

TEST_F(Questions, a_full_plan_folds_nothing) {
  const auto done = ask({"plan", "--full", "-f", file(rule("LoadBalancerIP"))});
  EXPECT_THAT(done.output, HasSubstr("worker-1\n  + IPv4 rule 1000: from 203.0.113.45 lookup 100 proto 183\n"));
  EXPECT_THAT(done.output, HasSubstr("worker-2\n  + IPv4 rule 1000: from 203.0.113.45 lookup 100 proto 183\n"));
  EXPECT_THAT(ask({"plan", "-f", file(rule("LoadBalancerIP")), "-l", "site=eu"}).output, HasSubstr("on 1 of 1 nodes"));
}

TEST_F(Questions, the_versions_of_all_that_runs_are_told) {
  const auto none = ask({"version"});
  EXPECT_EQ(none.exit.code, 0) << none.output << none.errors;
  EXPECT_THAT(none.output, HasSubstr("\niprule-controller  none is installed\n"));
  EXPECT_THAT(none.output, HasSubstr("\nKubernetes         v1."));
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: controller, namespace: shop, labels: &l {app.kubernetes.io/name: ip-rule-operator, control-plane: controller-manager}}
spec: {selector: {matchLabels: *l}, template: {metadata: {labels: *l}, spec: {containers: [{name: manager, image: "x:5000/c:v9.9.0"}]}}}
)");
  const auto apart = ask({"version"});
  EXPECT_EQ(apart.exit.code, 1) << apart.errors;
  EXPECT_THAT(apart.output, HasSubstr("\niprule-controller  v9.9.0\n"));
  EXPECT_THAT(apart.output, HasSubstr("Skew not supported"));
  kubectl({"delete", "-n", "shop", "deployment", "controller"});
}

TEST_F(Questions, services_are_listed_of_one_name_space_or_of_all) {
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  const auto one = ask({"explain", "svc", "-n", "shop"});
  EXPECT_THAT(one.output, HasSubstr("SERVICE   LOAD BALANCER  IPRULE     STEERED\nfrontend  203.0.113.45   public-eu"));
  const auto all = ask({"explain", "svc", "-A", "-o", "wide"});
  EXPECT_THAT(all.output, HasSubstr("NAMESPACE  SERVICE   LOAD BALANCER  IPRULE     STEERED        CLUSTER-IP"));
  EXPECT_THAT(all.output, HasSubstr("All name spaces: 1 of 1 Services"));
  EXPECT_EQ(ask({"explain", "svc", "-A", "-o", "name"}).output, "service/frontend\n");
  EXPECT_EQ(ask({"explain", "svc", "-A", "-o", "name", "-l", "tier=web"}).output, "");
  EXPECT_EQ(ask({"explain", "svc/frontend", "-n", "shop", "-o", "name"}).exit.code, 2) << "that is no list";
}

TEST_F(Questions, a_service_is_explained_as_if_manifests_were_applied) {
  const auto done = ask({"explain", "svc/frontend", "-n", "shop", "-f", file(rule("Reply"))});
  EXPECT_EQ(done.exit.code, 0) << done.output << done.errors;
  EXPECT_THAT(done.output, HasSubstr("IPRule/public-eu  has 203.0.113.45: source Reply 203.0.113.45, table 100, "
                                     "priority 1000\n  would be published for the nodes that it selects\n"
                                     "Verdict  steered as wanted, once it is applied\n"));
  EXPECT_EQ(ask({"explain", "svc/frontend", "-n", "shop"}).exit.code, 1) << "nothing was applied";
}

TEST_F(Questions, kubectls_own_login_can_be_used) {
  const auto program = folder_ / "kubectl";
  ASSERT_TRUE(base::write_file(program, fmt::format("#!/bin/sh\necho $$ > '{0}/pid'; exec '{1}' kubectl \"$@\"\n",
                                                    folder_.path().native(), cluster().program().native())));
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  std::filesystem::create_directory(folder_ / "tmp");
  const std::vector<std::string> environment = {"PATH=" + folder_.path().native() + ":/usr/bin:/bin",
                                                "TMPDIR=" + (folder_ / "tmp").native()};
  const auto through = [&](std::vector<std::string> words) {
    words.insert(words.begin(), IPRULECTL);
    words.insert(words.end(), {"--via", "kubectl", "--kubeconfig", cluster().admin_kubeconfig().native()});
    const auto done = testbed::run({.arguments = std::move(words), .environment = environment}, 60s);
    EXPECT_TRUE(done) << done.error().message();
    return done.value_or(testbed::Finished());
  };
  const auto done = through({"status", "--nodes", "-o", "name"});
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_EQ(done.output, "node/worker-1\nnode/worker-2\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp")) << "its socket is gone";
  const std::string pid = base::read_file(folder_ / "pid").value_or("");
  EXPECT_FALSE(std::filesystem::exists("/proc/" + pid.substr(0, pid.find('\n')))) << "and so is it";
  EXPECT_THAT(through({"status", "--as", "nobody"}).output, HasSubstr("User \"nobody\" cannot list"));

  auto watch = testbed::Process::start({.arguments = {IPRULECTL, "status", "-w", "--via", "kubectl", "--kubeconfig",
                                                      cluster().admin_kubeconfig().native()},
                                        .environment = environment});
  ASSERT_TRUE(watch) << watch.error().message();
  ASSERT_TRUE(testbed::eventually("a first answer", 60s, [&] { return watch->output().contains("IPRules,"); }));
  watch->signal(SIGINT);
  const auto end = watch->wait_exit(20s);
  ASSERT_TRUE(end) << end.error().message();
  EXPECT_EQ(end->signal, SIGINT);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp")) << "nothing is left behind";

  const auto none = testbed::run(
      {.arguments = {IPRULECTL, "status", "--via", "kubectl"}, .environment = {"PATH=" + (folder_ / "tmp").native()}},
      60s);
  ASSERT_TRUE(none) << none.error().message();
  EXPECT_EQ(none->exit.code, 3);
  EXPECT_EQ(none->errors, "iprulectl: --via kubectl: kubectl: No such file or directory\n");
}

TEST_F(Questions, doctor_advises_by_what_agents_reported) {
  const auto done = ask({"doctor"});
  EXPECT_THAT(done.output, HasSubstr("worker-1, worker-2 (2 alike), by what its agent reported\n"));
  EXPECT_THAT(done.output, HasSubstr("kube-proxy nftables: replies are routed with the pod's address\n"));
  EXPECT_THAT(done.output,
              HasSubstr("Works here: Reply (recommended), Endpoints, LocalEndpoints.  Cannot work: ClusterIP"));
}

TEST_F(Questions, doctor_names_the_IPRule_that_reports_speak_against) {
  kubectl({"apply", "-f", "-"}, rule("ClusterIP"));
  const auto unfit = ask({"doctor"});
  EXPECT_EQ(unfit.exit.code, 1) << unfit.errors;
  EXPECT_THAT(unfit.output, HasSubstr("IPRule/public-eu asks for ClusterIP, which no reply bears here  IPR0301\n"));
  EXPECT_THAT(unfit.output, HasSubstr("\n  kubectl patch iprule public-eu --type=merge"));
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  const auto fit = ask({"doctor"});
  EXPECT_EQ(fit.exit.code, 0) << fit.output << fit.errors;
  EXPECT_THAT(fit.output, Not(HasSubstr("kubectl patch")));
}

TEST_F(Questions, a_kernel_that_cannot_be_asked_is_a_gap_and_the_report_is_shown) {
  const auto none = ask({"doctor", "--node", "worker-1"});
  EXPECT_EQ(none.exit.code, 3) << none.errors;
  EXPECT_THAT(none.output, HasSubstr("worker-1, by what its agent reported\n"));
  EXPECT_THAT(none.output,
              HasSubstr("Not asked: the kernel of worker-1: there is no Agent object, so no agent runs there\n"));

  kubectl({"apply", "-f", "-"}, R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: Agent
metadata: {name: agent, namespace: shop}
)");
  EXPECT_THAT(ask({"doctor", "--node", "worker-1"}).output,
              HasSubstr("Not asked: the kernel of worker-1: no agent runs there, by the pods of name space shop\n"));

  kubectl({"create", "serviceaccount", "default", "-n", "shop"});
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: v1
kind: Pod
metadata: {name: iprule-agent-x, namespace: shop, labels: {app: iprule-agent}}
spec: {nodeName: worker-1, containers: [{name: agent, image: agent}]}
)");
  const auto no_kubelet = ask({"doctor", "--node", "worker-1"});
  EXPECT_EQ(no_kubelet.exit.code, 3) << no_kubelet.errors;
  EXPECT_THAT(no_kubelet.output, HasSubstr("worker-1, by what its agent reported\n"));
  EXPECT_THAT(no_kubelet.output, HasSubstr("Not asked: the kernel of worker-1: "));

  kubectl({"create", "clusterrole", "reader", "--verb=get,list",
           "--resource=pods,nodes,services,endpointslices.discovery.k8s.io,iprules,ipruleconfigs,agents,nodestates"});
  kubectl({"create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=reader"});
  const auto denied = ask({"doctor", "--node", "worker-1", "--as", "reader"});
  EXPECT_EQ(denied.exit.code, 3) << denied.errors;
  EXPECT_THAT(denied.output, HasSubstr("worker-1, by what its agent reported\n"));
  EXPECT_THAT(denied.output, HasSubstr("Not asked: the kernel of worker-1: 403 Forbidden: "));
  EXPECT_THAT(denied.output, HasSubstr("pods/exec"));

  const auto packet =
      ask({"explain", "--from", "10.244.1.7", "--to", "198.18.7.9", "--node", "worker-1", "--as", "reader"});
  EXPECT_EQ(packet.exit.code, 3);
  EXPECT_THAT(packet.errors, HasSubstr("the kernel of worker-1: 403 Forbidden: "));
  kubectl({"delete", "-n", "shop", "pod/iprule-agent-x", "agent/agent", "--grace-period=0", "--force"});
}

TEST_F(Questions, before_anything_is_installed_the_API_tells_what_is_likely) {
  const auto unknown = ask({"doctor", "--preflight"});
  EXPECT_EQ(unknown.exit.code, 0) << unknown.output;
  EXPECT_THAT(unknown.output, HasSubstr("no kube-proxy and none of the networks that we know"));
  kubectl({"create", "configmap", "kube-proxy", "-n", "kube-system", "--from-literal=config.conf=mode: nftables"});
  const auto done = ask({"doctor", "--preflight"});
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("likely kube-proxy nftables (mode of ConfigMap kube-proxy)\n"));
  EXPECT_THAT(done.output, HasSubstr("Likely to work: Reply (recommended), Endpoints, LocalEndpoints."));
  EXPECT_THAT(done.output, HasSubstr("  ok  nodes          2\n"));
  kubectl({"delete", "configmap", "kube-proxy", "-n", "kube-system"});
}

TEST_F(Questions, requests_are_told_to_who_wants_to_see_them) {
  EXPECT_THAT(ask({"drift", "-v", "6"}).errors, HasSubstr("/apis/api.operator.brtrm.dev/v1alpha1/nodestates"));
  EXPECT_EQ(ask({"drift"}).errors, "");
  const auto quiet = ask({"drift", "-q"});
  EXPECT_EQ(quiet.exit.code, 1);
  EXPECT_EQ(quiet.output, "");
}

TEST_F(Questions, drift_can_be_asked_for_what_is_recent) {
  const auto old = ask({"drift", "--since", "1h"});
  EXPECT_EQ(old.exit.code, 0) << old.errors;
  EXPECT_THAT(old.output, HasSubstr("0 of 2 nodes report"));
  EXPECT_THAT(old.output, HasSubstr(", begun within 60m.\n"));
  EXPECT_EQ(ask({"drift", "--since", "soon"}).exit.code, 2);
}

TEST_F(Questions, a_pod_a_name_space_and_a_node_are_explained) {
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  kubectl({"create", "serviceaccount", "pods", "-n", "shop"});
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: v1
kind: Pod
metadata: {name: frontend-1, namespace: shop}
spec: {nodeName: worker-1, serviceAccountName: pods, containers: [{name: web, image: web}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: frontend-1, namespace: shop, labels: {kubernetes.io/service-name: frontend}}
addressType: IPv4
endpoints: [{addresses: [10.244.1.7], nodeName: worker-1, conditions: {ready: true}}]
)");
  patch_status("pod", "frontend-1", R"({"podIP":"10.244.1.7","podIPs":[{"ip":"10.244.1.7"}]})", "shop");

  const auto pod = ask({"explain", "pod/frontend-1", "-n", "shop", "--client", "198.18.7.9"});
  EXPECT_EQ(pod.exit.code, 3) << pod.errors;
  EXPECT_THAT(pod.output, HasSubstr("Pod shop/frontend-1  10.244.1.7 on worker-1, answers for 1 Service\n"));
  EXPECT_THAT(pod.output, HasSubstr("Service shop/frontend  load balancer 203.0.113.45"));
  EXPECT_THAT(pod.output, HasSubstr("Not asked: the kernel of worker-1: "));
  EXPECT_EQ(ask({"explain", "pod/none", "-n", "shop"}).errors,
            "iprulectl: there is no pod \"none\" in name space shop; -n names another\n");

  const auto ns = ask({"explain", "ns/shop"});
  EXPECT_EQ(ns.exit.code, 1) << ns.errors;
  EXPECT_THAT(ns.output, HasSubstr("\nfrontend  203.0.113.45   public-eu  NOT AS WANTED\n"));

  const auto node = ask({"explain", "node/worker-2"});
  EXPECT_EQ(node.exit.code, 3) << node.errors;
  EXPECT_THAT(node.output, HasSubstr("Diff: 0 of 1 nodes differ"));
  EXPECT_THAT(node.output, HasSubstr("worker-2, by what its agent reported\n"));
  EXPECT_THAT(node.output, HasSubstr("5 repairs in a minute"));
  kubectl({"delete", "-n", "shop", "pod/frontend-1", "endpointslice/frontend-1", "--grace-period=0", "--force"});
}

TEST_F(Questions, a_watch_prints_what_is_new_and_only_that) {
  auto watch = testbed::Process::start(
      {.arguments = {IPRULECTL, "status", "-w", "--kubeconfig", cluster().admin_kubeconfig().native()}});
  ASSERT_TRUE(watch) << watch.error().message();
  const auto seen = [&](std::string_view words) {
    return testbed::eventually(std::string(words), 60s, [&] { return watch->output().contains(words); });
  };
  ASSERT_TRUE(seen("0 IPRules,")) << watch->errors();
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  EXPECT_TRUE(seen("1 IPRule,")) << watch->errors();
  const std::string all = watch->output();
  EXPECT_EQ(all.find("0 IPRules,"), all.rfind("0 IPRules,")) << "what did not change is not told again";
}

TEST_F(Questions, whoever_waits_is_told_and_does_not_ask_again_and_again) {
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  patch_status(
      "iprule", "public-eu",
      R"({"matchedServices":0,"matchedVIPs":0,"shadowedVIPs":0,"configs":0,"conditions":[{"type":"RoutesMissing","status":"True","reason":"EmptyTable","message":"table 100","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]})");
  const auto done = ask({"status", "--wait", "5s", "-v", "6"});
  EXPECT_EQ(done.exit.code, 4) << done.output;
  std::size_t requests = 0;
  for (auto at = done.errors.find("v1alpha1/nodestates"); at != std::string::npos;
       at = done.errors.find("v1alpha1/nodestates", at + 1)) {
    ++requests;
  }
  EXPECT_GE(requests, 1U);
  EXPECT_LE(requests, 3U) << "a list and a watch:\n" << done.errors;
}

TEST_F(Questions, drift_names_the_nodes_and_obeys_nothing_they_say) {
  const auto done = ask({"drift"});
  EXPECT_EQ(done.exit.code, 1) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("  changed again and again  -       5 repairs in a minute \\x1b[2J  IPR0314\n"));
  EXPECT_THAT(done.output, HasSubstr("1 of 2 nodes report that others change what is ours, or stand beside it.\n"));
  EXPECT_EQ(ask({"drift", "-l", "site=eu"}).exit.code, 0);
  EXPECT_EQ(ask({"drift", "-o", "name"}).output, "node/worker-2\n");
  const auto named = ask({"drift", "--node", "worker-1"});
  EXPECT_EQ(named.exit.code, 3) << "nobody answers for its kernel";
  EXPECT_THAT(named.output, HasSubstr("Not asked: the kernel of worker-1: there is no Agent object"));
}

TEST_F(Questions, drift_that_is_watched_has_a_line_when_it_begins_and_one_when_it_ends) {
  const auto report = [](std::string_view status, std::string_view reason) {
    patch_status(
        "nodestate", "worker-1",
        fmt::format(
            R"({{"conditions":[{{"type":"Clashing","status":"{}","reason":"{}","message":"rule 1000","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}}]}})",
            status, reason));
  };
  report("False", "NoClash");
  auto watch = testbed::Process::start(
      {.arguments = {IPRULECTL, "drift", "-w", "--kubeconfig", cluster().admin_kubeconfig().native()}});
  ASSERT_TRUE(watch) << watch.error().message();
  const auto seen = [&](std::string_view words) {
    return testbed::eventually(std::string(words), 60s, [&] { return watch->output().contains(words); });
  };
  ASSERT_TRUE(seen("  changed again and again  -       5 repairs in a minute \\x1b[2J  IPR0314\n")) << watch->errors();
  report("True", "ForeignRule");
  EXPECT_TRUE(seen("  another's beside one  -  rule 1000  IPR0105\n")) << watch->output();
  report("False", "NoClash");
  EXPECT_TRUE(seen("  another's beside one  -  over\n")) << watch->output();
  const std::string all = watch->output();
  EXPECT_EQ(std::ranges::count(all, '\n'), 4) << "titles, and a line for each:\n" << all;
  EXPECT_EQ(ask({"drift", "-w", "--node", "worker-l"}).errors,
            "iprulectl: --node: there is no node \"worker-l\"; did you mean \"worker-1\"?\n");
  EXPECT_EQ(ask({"drift", "-w", "--since", "1h"}).exit.code, 2);
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

TEST_F(Questions, whoever_waits_at_a_terminal_sees_how_far_it_is) {
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  patch_status(
      "iprule", "public-eu",
      R"({"matchedServices":0,"matchedVIPs":0,"shadowedVIPs":0,"configs":0,"conditions":[{"type":"RoutesMissing","status":"True","reason":"EmptyTable","message":"table 100","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]})");
  const auto done = testbed::run({.arguments = {"script", "-qec",
                                                fmt::format("stty cols 60 && '{}' status --wait 10s --kubeconfig '{}'",
                                                            IPRULECTL, cluster().admin_kubeconfig().native()),
                                                "/dev/null"},
                                  .environment = {"SHELL=/bin/sh", "TERM=xterm"}},
                                 60s);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_THAT(done->output, HasSubstr("\r[####################] nodes in sync 2/2\x1b[K"));
  EXPECT_THAT(done->output, HasSubstr("\r\x1b[K")) << "and nothing of it stays";
}

TEST_F(Questions, waiting_in_vain_has_a_code_of_its_own) {
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  patch_status(
      "iprule", "public-eu",
      R"({"matchedServices":0,"matchedVIPs":0,"shadowedVIPs":0,"configs":0,"conditions":[{"type":"RoutesMissing","status":"True","reason":"EmptyTable","message":"table 100","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]})");
  EXPECT_EQ(ask({"status", "--wait", "1s"}).exit.code, 4);
}

}  // namespace
