// The whole install on real nodes, from its first command to its last, and what is left then: nothing.
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "real_node.h"
#include "testbed/eventually.h"

namespace node_test {
namespace {

using testbed::eventually;
using testing::HasSubstr;

// The lines of `after` that are not in `before`; kubelet takes its time with what earlier tests left, so that may go.
std::string lines_beyond(const std::string& before, const std::string& after) {
  std::set<std::string> known;
  std::istringstream old(before);
  for (std::string line; std::getline(old, line);) known.insert(line);
  std::string out;
  std::istringstream now(after);
  for (std::string line; std::getline(now, line);) {
    if (!known.contains(line)) out += line + "\n";
  }
  return out;
}

class RealNodeInstall : public RealNode {
 protected:
  // What may not stay: in kernels, on nodes, in the API. A line each.
  std::string everything() {
    std::string out =
        kubectl({"get",
                 "namespaces,crds,clusterroles,clusterrolebindings,validatingadmissionpolicies,"
                 "validatingadmissionpolicybindings,pods,daemonsets,deployments",
                 "--all-namespaces", "-o",
                 R"(jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{"\n"}{end})"});
    for (const auto& node : nodes()) out += rules(*node) + marks(*node) + node->traces_of_pods();
    return out;
  }
};

TEST_F(RealNodeInstall, D48_from_the_install_to_rules_in_the_kernel_and_back_to_nothing) {
  withdraw_services();
  uninstall();
  const std::string before = everything();
  ASSERT_NO_FATAL_FAILURE(install());
  ASSERT_NO_FATAL_FAILURE(publish_services());

  undeploy();
  for (const auto& node : nodes()) {
    EXPECT_THAT(rules(*node), testing::Not(HasSubstr("proto 183"))) << node->name();
    EXPECT_EQ(marks(*node), "") << node->name();
  }
  EXPECT_THAT(kubectl({"get", "iprules"}), HasSubstr("public-eu")) << "what people wrote is theirs";
  withdraw_services();
  uninstall();
  std::string left;
  EXPECT_TRUE(eventually("nothing is left", kBound, [&] {
    return (left = lines_beyond(before, everything())).empty();
  })) << left;
}

// Namespace, kinds, rights and accounts go at the same time, and with them what the agents could ask by. They have been
// told enough before their pods end.
TEST_F(RealNodeInstall, S24_L10_the_whole_install_file_deleted_at_once_leaves_nothing_in_any_kernel) {
  withdraw_services();
  uninstall();
  const std::string before = everything();
  ASSERT_NO_FATAL_FAILURE(install());
  ASSERT_NO_FATAL_FAILURE(publish_services());

  delete_install_file();
  for (const auto& node : nodes()) {
    EXPECT_TRUE(eventually("no rule and no mark of ours is left on " + node->name(), kBound,
                           [&] { return !rules(*node).contains("proto 183") && marks(*node).empty(); }))
        << rules(*node) << marks(*node);
  }
  withdraw_services();
  std::string left;
  EXPECT_TRUE(eventually("nothing is left", kBound, [&] {
    return (left = lines_beyond(before, everything())).empty();
  })) << left;
}

// What the old project's own end-to-end test asks for, with its names.
TEST_F(RealNodeInstall, what_the_old_projects_end_to_end_test_looks_at_is_there) {
  withdraw_services();
  uninstall();
  const std::string name_space = "--namespace=iprule-system";
  kubectl({"create", "namespace", "iprule-system"});
  kubectl({"label", "namespace", "iprule-system", "pod-security.kubernetes.io/enforce=restricted"});
  make({"install"});
  make({"deploy", "OVERLAY=overlays/iprule-system"});
  ASSERT_TRUE(eventually("exactly one controller runs", kBound, [&] {
    return kubectl({"get", "pods", name_space, "--selector=control-plane=controller-manager", "-o",
                    "jsonpath={.items[*].status.phase}"}) == "Running";
  }));
  EXPECT_THAT(kubectl({"get", "pods", name_space, "-o", "name"}), HasSubstr("controller-manager"));
  std::string log;
  EXPECT_TRUE(eventually("the log has the line that is looked for, with its tab", kBound, [&] {
    log = cluster_->kubectl({"logs", "--selector=control-plane=controller-manager", "--tail=-1", name_space})
              .value_or("");
    return log.contains("controller-runtime.metrics\tServing metrics server");
  })) << log;

  kubectl({"create", "clusterrolebinding", "iprule-metrics-binding", "--clusterrole=iprule-metrics-reader",
           "--serviceaccount=iprule-system:iprule-controller-manager"});
  std::string token = kubectl({"create", "token", "iprule-controller-manager", name_space});
  while (token.ends_with('\n')) token.pop_back();
  const std::string url =
      fmt::format("https://{}:8443/metrics", kubectl({"get", "service", "iprule-controller-manager-metrics-service",
                                                      name_space, "-o", "jsonpath={.spec.clusterIP}"}));
  testbed::Node& node = *nodes().front();
  std::string answer;
  EXPECT_TRUE(eventually("metrics are served", kBound, [&] {
    answer = node.run({"curl", "-sSik", "-H", "Authorization: Bearer " + token, url}).value_or("");
    return answer.starts_with("HTTP/1.1 200 OK") &&
           answer.find("controller_runtime_reconcile_total") != std::string::npos;
  })) << answer;
  EXPECT_THAT(node.run({"curl", "-sSik", url}).value_or(""), HasSubstr("HTTP/1.1 401"));

  const std::string agent =
      "apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: Agent\n"
      "metadata: {name: NAME, namespace: iprule-system}\nspec: {}\n";
  const auto named = [&](const std::string& name) { return std::string(agent).replace(agent.find("NAME"), 4, name); };
  apply(
      "apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: IPRule\nmetadata: {name: old}\n"
      "spec: {cidr: 192.168.1.0/24, table: 100, priority: 1000}\n");
  apply(named("agent"));
  const auto refused = cluster_->kubectl({"apply", "-f", "-"}, named("other"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("Agent resource name must be 'agent'"));
  EXPECT_TRUE(eventually("the DaemonSet", kBound, [&] {
    return kubectl({"get", "daemonsets", name_space, "-o", "name"}) == "daemonset.apps/iprule-agent\n";
  }));
  EXPECT_TRUE(eventually("the Agent's condition", kBound, [&] {
    return kubectl({"get", "agent", "agent", name_space, "-o",
                    R"(jsonpath={.status.conditions[?(@.type=="Ready")].status})"}) == "True";
  }));

  make({"undeploy", "OVERLAY=overlays/iprule-system"});
  make({"uninstall"});
  kubectl({"delete", "clusterrolebinding", "iprule-metrics-binding"});
}

}  // namespace
}  // namespace node_test
