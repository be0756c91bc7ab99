// From an Agent to a DaemonSet and back to the Agent's status: the real API server, controller manager and scheduler,
// the real controller with the rights and policies of the default install. Only the kubelet's part is played by the
// test.
#include <chrono>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "install.h"
#include "testbed/eventually.h"

namespace {

using namespace std::chrono_literals;
using install::kNamespace;
using install::kubectl;
using testbed::eventually;
using testing::HasSubstr;

constexpr auto kRolloutBound = 60s;

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

class AgentRollout : public testing::Test {
 protected:
  void SetUp() override {
    (void)install::cluster();
    controller_.emplace(install::start_controller({}, {"RELATED_IMAGE_AGENT_IMAGE=example.test/agent:v1"}));
    ASSERT_TRUE(eventually("ready", kRolloutBound, [&] { return controller_->probe("/readyz").status == 200; }))
        << controller_->process.output();
  }
  void TearDown() override {
    if (HasFailure()) {
      fmt::print(stderr, "--- controller\n{}\n{}\n", controller_->process.output() + controller_->process.errors(),
                 kubectl({"get", "agents,daemonsets", "-A", "-o", "yaml"}));
    }
    kubectl({"delete", "agents", "--all", "--all-namespaces"});
    kubectl({"delete", "nodes", "--all"});
    EXPECT_TRUE(eventually("the agents are gone", kRolloutBound, [&] {
      kubectl({"delete", "pods", "--all", "-n", kNamespace, "--force", "--grace-period=0"});  // No kubelet ends them.
      return kubectl({"get", "daemonsets,pods", "--all-namespaces", "-o", "name"}).empty();
    }));
  }

  static void create_agent(const std::string& name, const std::string& ns, const std::string& spec = "{}") {
    kubectl({"apply", "-f", "-"}, fmt::format("apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: Agent\n"
                                              "metadata: {{name: {}, namespace: {}}}\nspec: {}\n",
                                              name, ns, spec));
  }

  static std::string agent(const std::string& path, const std::string& name = "agent",
                           const std::string& ns = kNamespace) {
    return kubectl({"get", "agents", name, "-n", ns, "-o", "jsonpath=" + path});
  }
  static std::string set(const std::string& path, const std::string& ns = kNamespace) {
    return install::cluster()
        .kubectl({"get", "daemonset", "iprule-agent", "-n", ns, "-o", "jsonpath=" + path})
        .value_or("");
  }

  testing::AssertionResult becomes(const std::string& reason, const std::string& name = "agent",
                                   const std::string& ns = kNamespace) {
    const auto result = eventually(name + " becomes " + reason, kRolloutBound, [&] {
      return agent("{.status.conditions[?(@.type==\"Ready\")].reason}", name, ns) == reason;
    });
    return result ? result : testing::AssertionFailure() << result.message() << agent("{.status}", name, ns);
  }
  static std::string message(const std::string& name = "agent", const std::string& ns = kNamespace) {
    return agent("{.status.conditions[?(@.type==\"Ready\")].message}", name, ns);
  }

  // As the old project leaves it: written by another manager, with a selector of its own. The controller is away then.
  void put_set_of_old_project(const std::string& owner, const std::string& more) {
    controller_->process.kill();
    kubectl({"delete", "daemonset", "iprule-agent", "-n", kNamespace});
    kubectl({"create", "--field-manager=manager", "-f", "-"},
            fmt::format(R"(
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: iprule-agent
  namespace: {0}
  labels: {{app: iprule-agent, app.kubernetes.io/name: ip-rule-operator, managed-by: ip-rule-operator}}
  ownerReferences: [{{apiVersion: api.operator.brtrm.dev/v1alpha1, kind: Agent, name: {1}, uid: {2}, controller: true, blockOwnerDeletion: true}}]
spec:
  selector: {{matchLabels: {{app: iprule-agent}}}}
  template:
    metadata: {{labels: {{app: iprule-agent}}}}
    spec:
      {3}
      tolerations: [{{operator: Exists}}]
      containers:
      - name: agent
        image: 'old:1'
        env: [{{name: RECONCILE_PERIOD, value: 10s}}]
        livenessProbe: {{httpGet: {{path: /health, port: 9090}}}}
        resources: {{limits: {{cpu: 100m, memory: 64Mi}}}}
)",
                        kNamespace, owner, agent("{.metadata.uid}", owner), more));
  }

  // As the kubelets would say, once the scheduler has bound them all.
  testing::AssertionResult pods_become_ready(std::size_t count) {
    return eventually("pods are bound and made ready", kRolloutBound, [&] {
      const auto bound = words(kubectl({"get", "pods", "-n", kNamespace, "-l", "app=iprule-agent",
                                        "--field-selector=spec.nodeName!=", "-o", "name"}));
      for (const std::string& pod : bound) {
        (void)install::cluster().kubectl(
            {"patch", pod, "-n", kNamespace, "--subresource=status", "--type=merge", "-p",
             R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})"});
      }
      return bound.size() >= count;
    });
  }

  double operations(const std::string& operation) const {
    return controller_->metric("iprule_operator_agent_daemonset_operations_total{operation=\"" + operation + "\"}");
  }
  // Something happens to the Agent that means nothing; the controller has looked at it when this returns.
  testing::AssertionResult passes_again() {
    const double before = operations("unchanged");
    kubectl({"annotate", "agents", "agent", "-n", kNamespace, "--overwrite", fmt::format("look={}", ++looks_)});
    return eventually("one more pass", kRolloutBound, [&] { return operations("unchanged") > before; });
  }

  std::optional<install::Controller> controller_;
  int looks_ = 0;
};

TEST_F(AgentRollout, D37_D39_an_agent_is_rolled_out_reported_and_then_left_alone) {
  create_agent("agent", kNamespace, "{tolerations: [{key: a, operator: Exists}]}");
  ASSERT_TRUE(becomes("NoMatchingNodes"));
  EXPECT_EQ(set("{.spec.template.spec.containers[0].image}"), "example.test/agent:v1");
  EXPECT_EQ(set("{.spec.template.spec.hostNetwork}"), "true");
  EXPECT_EQ(set("{.spec.template.spec.containers[0].securityContext.capabilities}"),
            R"({"add":["NET_ADMIN"],"drop":["ALL"]})");
  EXPECT_EQ(set("{.metadata.ownerReferences[0].name}"), "agent");

  install::add_node("node-1");
  install::add_node("node-2");
  ASSERT_TRUE(becomes("Progressing"));
  ASSERT_TRUE(pods_become_ready(2));
  ASSERT_TRUE(becomes("AllReady"));
  EXPECT_EQ(message(), "All 2 pods ready");
  EXPECT_EQ(agent("{.status.desiredNumberScheduled}/{.status.currentNumberScheduled}/{.status.numberReady}"), "2/2/2");
  EXPECT_EQ(controller_->metric("iprule_operator_agent_daemonset_ready"), 2);
  EXPECT_EQ(operations("created"), 1);
  EXPECT_TRUE(eventually("the Event is there", kRolloutBound, [&] {
    return kubectl({"get", "events", "-n", kNamespace, "--field-selector=reason=DaemonSetCreated"}).contains("agent");
  }));

  const std::string version = set("{.metadata.resourceVersion}");
  const std::string transition = agent("{.status.conditions[0].lastTransitionTime}");
  ASSERT_TRUE(passes_again());
  ASSERT_TRUE(passes_again());
  EXPECT_EQ(set("{.metadata.resourceVersion}"), version);
  EXPECT_EQ(agent("{.status.conditions[0].lastTransitionTime}"), transition);
  EXPECT_EQ(operations("updated"), 0);

  // D47: without an Agent the gauges fall to 0, they do not stay.
  kubectl({"delete", "agents", "agent", "-n", kNamespace});
  EXPECT_TRUE(eventually("no agent is wanted", kRolloutBound,
                         [&] { return controller_->metric("iprule_operator_agent_daemonset_desired") == 0; }));
}

TEST_F(AgentRollout, D38_a_restart_by_kubectl_is_one_rollout_and_a_change_of_the_agent_another) {
  create_agent("agent", kNamespace);
  ASSERT_TRUE(becomes("NoMatchingNodes"));
  ASSERT_EQ(set("{.metadata.generation}"), "1");
  kubectl({"rollout", "restart", "daemonset/iprule-agent", "-n", kNamespace});
  ASSERT_TRUE(passes_again());
  EXPECT_EQ(set("{.metadata.generation}"), "2");
  EXPECT_NE(set("{.spec.template.metadata.annotations.kubectl\\.kubernetes\\.io/restartedAt}"), "");

  // An amount that the server writes in another way is applied once, not for ever.
  create_agent("agent", kNamespace, "{logLevel: debug, resources: {limits: {cpu: '0.1', memory: 0.125Gi}}}");
  ASSERT_TRUE(eventually("updated", kRolloutBound, [&] { return operations("updated") == 1; }));
  EXPECT_TRUE(eventually("the Event is there", kRolloutBound, [&] {
    return kubectl({"get", "events", "-n", kNamespace, "--field-selector=reason=DaemonSetUpdated"}).contains("agent");
  }));
  ASSERT_TRUE(passes_again());
  EXPECT_EQ(set("{.metadata.generation}"), "3");
  EXPECT_NE(set("{.spec.template.metadata.annotations.kubectl\\.kubernetes\\.io/restartedAt}"), "");
  EXPECT_THAT(set("{.spec.template.spec.containers[0].env}"), HasSubstr(R"({"name":"LOG_LEVEL","value":"debug"})"));

  // What is no longer asked for goes again; what somebody turned is turned back.
  create_agent("agent", kNamespace);
  ASSERT_TRUE(eventually("updated", kRolloutBound, [&] { return operations("updated") == 2; }));
  EXPECT_THAT(set("{.spec.template.spec.containers[0].env}"), testing::Not(HasSubstr("LOG_LEVEL")));
  kubectl({"patch", "daemonset", "iprule-agent", "-n", kNamespace, "--type=merge", "-p",
           R"({"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}})"});
  EXPECT_TRUE(eventually("the strategy is back", kRolloutBound,
                         [&] { return set("{.spec.updateStrategy.type}") == "RollingUpdate"; }));
}

TEST_F(AgentRollout, D43_the_set_moves_from_the_older_agent_to_the_newer_without_a_restart) {
  create_agent("default", kNamespace);
  ASSERT_TRUE(becomes("NoMatchingNodes", "default"));
  const std::string before = set("{.metadata.uid} {.metadata.generation}");
  create_agent("agent", kNamespace);
  ASSERT_TRUE(becomes("NoMatchingNodes"));
  ASSERT_TRUE(becomes("InactiveInstance", "default"));
  EXPECT_THAT(message("default"), HasSubstr(kNamespace + "/agent"));
  EXPECT_EQ(set("{.metadata.ownerReferences[*].name}"), "agent");
  EXPECT_EQ(set("{.metadata.uid} {.metadata.generation}"), before);
}

TEST_F(AgentRollout, D43_a_set_of_the_old_project_is_taken_over) {
  create_agent("default", kNamespace);
  ASSERT_TRUE(becomes("NoMatchingNodes", "default"));
  put_set_of_old_project("default", "nodeSelector: {old: selector}");
  const std::string uid = set("{.metadata.uid}");
  create_agent("agent", kNamespace);
  controller_.emplace(install::start_controller());
  ASSERT_TRUE(eventually("the owner has changed", kRolloutBound, [&] {
    return set("{.metadata.ownerReferences[*].name}") == "agent";
  })) << controller_->process.output();
  EXPECT_TRUE(eventually("it is ours", kRolloutBound, [&] {
    return set("{.spec.template.spec.nodeSelector}{.spec.template.spec.tolerations}").empty() &&
           set("{.spec.template.spec.serviceAccountName}") == "iprule-agent";
  })) << set("{.spec}");
  EXPECT_EQ(set("{.metadata.uid}"), uid);
}

TEST_F(AgentRollout, D43_nothing_of_the_old_project_is_left_in_the_set_that_its_agent_keeps) {
  create_agent("agent", kNamespace, "{metricsBindAddress: '0', logLevel: debug, resources: {limits: {memory: 64Mi}}}");
  ASSERT_TRUE(becomes("NoMatchingNodes"));
  put_set_of_old_project("agent", "terminationGracePeriodSeconds: 30");
  const std::string uid = set("{.metadata.uid}");
  controller_.emplace(install::start_controller());
  ASSERT_TRUE(eventually("it is ours", kRolloutBound, [&] {
    return set("{.spec.template.spec.serviceAccountName}") == "iprule-agent";
  })) << controller_->process.output();
  EXPECT_EQ(set("{.spec.template.spec.containers[0].livenessProbe}"), "") << "it would ask where nobody serves";
  EXPECT_EQ(set("{.spec.template.spec.containers[0].resources}"), R"({"limits":{"memory":"64Mi"}})");
  EXPECT_EQ(set("{.metadata.uid} {.metadata.generation}"), uid + " 2") << "one roll-out, not one for every write";

  // Nobody but us has a say from then on.
  create_agent("agent", kNamespace, "{metricsBindAddress: '0', resources: {limits: {cpu: 100m}}}");
  EXPECT_TRUE(eventually("the memory is without limit", kRolloutBound, [&] {
    return set("{.spec.template.spec.containers[0].resources}") == R"({"limits":{"cpu":"100m"}})";
  })) << set("{.spec.template.spec.containers[0].resources}");
  EXPECT_THAT(set("{.spec.template.spec.containers[0].env}"), testing::Not(HasSubstr("LOG_LEVEL")));
}

// Stored before the name was checked: the server refuses every write to it, so nothing can be said there.
TEST_F(AgentRollout, D43_an_agent_of_another_name_holds_up_nobody) {
  const std::string crd = std::string(IPRULE_SOURCE_DIR) + "/config/crd/bases/api.operator.brtrm.dev_agents.yaml";
  kubectl({"patch", "crd", "agents.api.operator.brtrm.dev", "--type=json", "-p",
           R"([{"op":"remove","path":"/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations"}])"});
  ASSERT_TRUE(eventually("another name is accepted", kRolloutBound, [&] {
    return install::cluster()
        .kubectl({"create", "-f", "-"}, fmt::format("apiVersion: api.operator.brtrm.dev/v1alpha1\nkind: Agent\n"
                                                    "metadata: {{name: mine, namespace: {}}}\n",
                                                    kNamespace))
        .has_value();
  }));
  kubectl({"apply", "-f", crd});
  create_agent("agent", kNamespace);
  EXPECT_TRUE(becomes("NoMatchingNodes"));
  EXPECT_TRUE(eventually("the Event is there", kRolloutBound, [&] {
    return kubectl({"get", "events", "-n", kNamespace, "--field-selector=reason=InvalidName"}).contains("mine");
  }));
}

TEST_F(AgentRollout, D42_a_namespace_that_is_not_prepared_is_said_with_the_commands_that_prepare_it) {
  kubectl({"create", "namespace", "elsewhere"});
  create_agent("agent", "elsewhere");
  ASSERT_TRUE(becomes("NamespaceNotPrepared", "agent", "elsewhere"));
  const std::string said = message("agent", "elsewhere");
  const std::string commands = said.substr(said.find("kubectl"));
  std::istringstream in(commands);
  for (std::string command; std::getline(in, command, ';');) {
    auto arguments = words(command);
    ASSERT_EQ(arguments.at(0), "kubectl");
    arguments.erase(arguments.begin());
    kubectl(arguments);
  }
  ASSERT_TRUE(becomes("NoMatchingNodes", "agent", "elsewhere"));

  // A second one, in the operator's own namespace, counts more; the set elsewhere goes.
  create_agent("agent", kNamespace);
  ASSERT_TRUE(becomes("InactiveInstance", "agent", "elsewhere"));
  ASSERT_TRUE(becomes("NoMatchingNodes"));
  EXPECT_TRUE(
      eventually("one set is left", kRolloutBound, [&] { return set("{.metadata.name}", "elsewhere").empty(); }));
  EXPECT_TRUE(eventually("the Event is there", kRolloutBound, [&] {
    return kubectl({"get", "events", "-n", "elsewhere", "--field-selector=reason=InactiveInstance"}).contains("agent");
  }));
}

// Whether a pod runs there cannot be known; but nobody could have made one.
TEST_F(AgentRollout, D42_an_agent_that_does_not_count_in_a_namespace_that_is_not_prepared_holds_up_no_removal) {
  create_agent("agent", kNamespace);
  ASSERT_TRUE(becomes("NoMatchingNodes"));
  kubectl({"create", "namespace", "unprepared"});
  create_agent("agent", "unprepared");
  ASSERT_TRUE(becomes("InactiveInstance", "agent", "unprepared"));
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {name: blue}
spec: {cidrs: [203.0.113.0/24], table: 120}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {type: LoadBalancer, ports: [{port: 80}]}
)");
  kubectl({"patch", "service", "web", "-n", "default", "--subresource=status", "--type=merge", "-p",
           R"({"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.5"}]}}})"});
  const auto published = [] { return kubectl({"get", "ipruleconfigs", "-o", "name"}); };
  ASSERT_TRUE(eventually("it is published", kRolloutBound, [&] { return !published().empty(); }));
  kubectl({"delete", "service", "web", "-n", "default"});
  EXPECT_TRUE(eventually("it is gone", kRolloutBound, [&] { return published().empty(); }))
      << kubectl({"get", "ipruleconfigs", "-o", "yaml"});
  EXPECT_EQ(kubectl({"get", "events", "-n", kNamespace, "--field-selector=reason=NoAccess", "-o", "name"}), "");
  kubectl({"delete", "iprules", "blue"});
}

TEST_F(AgentRollout, D42_D46_a_missing_account_and_pod_security_are_named_with_the_cure) {
  install::add_node("node-1");
  kubectl({"delete", "serviceaccount", "iprule-agent", "-n", kNamespace});
  create_agent("agent", kNamespace);
  EXPECT_TRUE(becomes("ServiceAccountMissing"));
  EXPECT_THAT(message(), HasSubstr("kubectl create serviceaccount iprule-agent -n " + kNamespace));

  kubectl({"label", "namespace", kNamespace, "pod-security.kubernetes.io/enforce=baseline", "--overwrite"});
  kubectl({"create", "serviceaccount", "iprule-agent", "-n", kNamespace});
  EXPECT_TRUE(becomes("PodsForbidden"));
  EXPECT_THAT(message(), HasSubstr("violates PodSecurity \"baseline"));
  EXPECT_THAT(message(), HasSubstr("kubectl label namespace " + kNamespace));
  kubectl({"label", "namespace", kNamespace, "pod-security.kubernetes.io/enforce=privileged", "--overwrite"});
  ASSERT_TRUE(pods_become_ready(1));
  EXPECT_TRUE(becomes("AllReady"));

  const auto pods = words(kubectl({"get", "pods", "-n", kNamespace, "-l", "app=iprule-agent", "-o", "name"}));
  kubectl({"patch", pods.at(0), "-n", kNamespace, "--subresource=status", "--type=merge", "-p",
           R"({"status":{"phase":"Pending","conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[
               {"name":"agent","ready":false,"restartCount":0,"image":"i","imageID":"",
                "state":{"waiting":{"reason":"ImagePullBackOff","message":"not found"}}}]}})"});
  EXPECT_TRUE(becomes("ImagePullError"));
  EXPECT_THAT(message(), HasSubstr("node-1: ImagePullBackOff: not found"));
}

TEST_F(AgentRollout, an_image_that_a_policy_refuses_is_told_and_what_runs_goes_on) {
  create_agent("agent", kNamespace, "{image: 'good:1'}");
  ASSERT_TRUE(becomes("NoMatchingNodes"));
  kubectl({"apply", "-f", "-"}, R"yaml(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: good-images}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [daemonsets]}]}
  validations:
  - {expression: "object.spec.template.spec.containers.all(c, c.image.startsWith('good'))", message: this image is not good}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: good-images}
spec: {policyName: good-images, validationActions: [Deny]}
)yaml");
  ASSERT_TRUE(eventually("the policy counts", kRolloutBound, [&] {
    return !install::cluster().kubectl(
        {"set", "image", "daemonset/iprule-agent", "agent=bad:1", "-n", kNamespace, "--dry-run=server"});
  }));
  create_agent("agent", kNamespace, "{image: 'bad:1'}");
  EXPECT_TRUE(becomes("ImageNotAllowed"));
  EXPECT_THAT(message(), HasSubstr("this image is not good"));
  EXPECT_EQ(set("{.spec.template.spec.containers[0].image}"), "good:1");
  kubectl({"delete", "validatingadmissionpolicybindings,validatingadmissionpolicies", "good-images"});
  EXPECT_TRUE(becomes("NoMatchingNodes"));
  EXPECT_EQ(set("{.spec.template.spec.containers[0].image}"), "bad:1");
}

TEST_F(AgentRollout, a_set_of_somebody_else_is_left_alone_and_a_spec_the_server_refuses_is_told) {
  kubectl({"create", "-f", "-"}, fmt::format(R"(
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: iprule-agent, namespace: {}}}
spec:
  selector: {{matchLabels: {{app: theirs}}}}
  template:
    metadata: {{labels: {{app: theirs}}}}
    spec: {{containers: [{{name: a, image: 'theirs:1'}}]}}
)",
                                             kNamespace));
  const std::string version = set("{.metadata.resourceVersion}");
  create_agent("agent", kNamespace);
  EXPECT_TRUE(becomes("NameTaken"));
  EXPECT_EQ(set("{.spec.template.spec.containers[0].image}"), "theirs:1");
  kubectl({"delete", "daemonset", "iprule-agent", "-n", kNamespace});
  EXPECT_TRUE(becomes("NoMatchingNodes"));
  create_agent("agent", kNamespace, "{tolerations: [{key: a, operator: Sometimes}]}");
  EXPECT_TRUE(becomes("InvalidSpec"));
  EXPECT_THAT(message(), HasSubstr("Sometimes"));
}

}  // namespace
