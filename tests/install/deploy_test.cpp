// make install, deploy, undeploy and uninstall, on a control plane of their own: what they leave behind matters.
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "install.h"

namespace install_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Deploy : public testing::Test {
 protected:
  static void SetUpTestSuite() { cluster_ = must(testbed::Cluster::start({.controller_manager = true})).release(); }
  static void TearDownTestSuite() { delete cluster_; }

  static testbed::Finished make(const std::vector<std::string>& words) {
    testbed::Command command{.arguments = {"make", "--no-print-directory", "-C", kSource.native()}};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.arguments.push_back("KUBECTL=" + cluster_->program().native() + " kubectl --kubeconfig " +
                                cluster_->admin_kubeconfig().native());
    return must(testbed::run(command, std::chrono::minutes(4)));
  }
  static void expect_made(const std::vector<std::string>& words) {
    const testbed::Finished done = make(words);
    EXPECT_TRUE(done.exit.ok()) << done.output << done.errors;
  }
  // As a reader types it, in the folder of the sources; both outputs. It ends at the first failure, which is the
  // test's.
  static std::string type(const std::string& commands) {
    const std::string script = fmt::format(
        "set -e\nkubectl() {{ '{}' kubectl --kubeconfig '{}' \"$@\"; }}\nexport -f kubectl\ncd '{}'\n({}) 2>&1",
        cluster_->program().native(), cluster_->admin_kubeconfig().native(), kSource.native(), commands);
    const testbed::Finished done = must(testbed::run({.arguments = {"bash", "-c", script}}, std::chrono::minutes(4)));
    EXPECT_TRUE(done.exit.ok()) << commands << done.output << done.errors;
    return done.output;
  }
  static std::string everything() {
    return must(cluster_->kubectl({"get",
                                   "namespaces,crds,clusterroles,clusterrolebindings,validatingadmissionpolicies,"
                                   "validatingadmissionpolicybindings",
                                   "-o", "name"}));
  }

  static inline testbed::Cluster* cluster_ = nullptr;
};

TEST_F(Deploy, what_is_deployed_is_gone_after_undeploy_and_what_people_wrote_after_uninstall) {
  const std::string before = everything();
  expect_made({"install"});
  must(cluster_->kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"}));
  must(cluster_->kubectl({"apply", "-f", (kSource / "examples/iprule-public.yaml").native()}));
  expect_made({"deploy", "IMG=registry.example/controller:1", "AGENT_IMG=registry.example/agent:1"});
  expect_made({"deploy"});
  must(cluster_->kubectl({"get", "--namespace=" + kNamespace, "deployment", kController}));

  expect_made({"undeploy"});
  EXPECT_THAT(everything(), Not(HasSubstr(kNamespace)));
  EXPECT_THAT(must(cluster_->kubectl({"get", "iprules"})), HasSubstr("public-eu"));
  EXPECT_FALSE(make({"undeploy"}).exit.ok());
  expect_made({"undeploy", "ignore-not-found=true"});

  expect_made({"uninstall"});
  EXPECT_EQ(everything(), before);
  expect_made({"uninstall", "ignore-not-found=true"});
}

// No kubelet ends the pod, as on a machine that is switched off.
TEST_F(Deploy, an_agent_whose_node_is_off_is_named_and_the_rest_goes_without_it) {
  const std::string before = everything();
  expect_made({"deploy"});
  must(cluster_->kubectl({"wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"}));
  must(cluster_->kubectl({"apply", "-f", "-"}, fmt::format(R"(
apiVersion: v1
kind: Node
metadata: {{name: "off"}}
---
apiVersion: v1
kind: Pod
metadata: {{name: stays, namespace: {}, labels: {{app: iprule-agent}}}}
spec: {{nodeName: "off", serviceAccountName: iprule-agent, containers: [{{name: agent, image: x}}]}}
)",
                                                           kNamespace)));
  must(cluster_->kubectl({"delete", "pod", "stays", "--namespace=" + kNamespace, "--wait=false"}));

  const testbed::Finished unasked = make({"undeploy", "AGENT_TIMEOUT=soon"});
  EXPECT_FALSE(unasked.exit.ok());
  EXPECT_THAT(unasked.errors, HasSubstr(R"(undeploy: kubectl wait: Error: invalid argument "soon")"));
  EXPECT_THAT(everything(), HasSubstr("clusterrole.rbac.authorization.k8s.io/ip-rule-operator")) << "agents need it";

  const testbed::Finished done = make({"undeploy", "AGENT_TIMEOUT=2s"});
  EXPECT_TRUE(done.exit.ok()) << done.errors;
  EXPECT_THAT(done.errors, HasSubstr("  " + kNamespace + "/stays on node off\n"));
  EXPECT_THAT(done.errors, HasSubstr("run \"iprule-agent cleanup\" there"));
  EXPECT_EQ(must(cluster_->kubectl({"get", "deployments,daemonsets", "--namespace=" + kNamespace, "-o", "name"})), "");
  EXPECT_THAT(everything(), Not(HasSubstr("clusterrole.rbac.authorization.k8s.io/ip-rule-operator")));
  EXPECT_THAT(everything(), Not(HasSubstr("validatingadmissionpolicy.admissionregistration.k8s.io/iprule")));

  must(cluster_->kubectl({"delete", "pod", "stays", "--force", "--namespace=" + kNamespace}));
  expect_made({"uninstall"});
  must(cluster_->kubectl({"delete", "node", "off"}));
  std::string left;
  EXPECT_TRUE(testbed::eventually("the namespace ends with its last pod", kBound, [&] {
    return (left = everything()) == before;
  })) << left;
}

// The first README of the old project, steps 2 to 6, as they stand. It installs into the namespace `system`, with a
// Deployment `ip-rule-operator-manager`: that is our overlay of that name, and the one line that is added. No
// controller runs here, so what it would make is not looked for.
TEST_F(Deploy, D41_the_first_readme_of_the_old_project_can_be_typed) {
  const std::string before = everything();
  type("kubectl create -f - <<<'{apiVersion: v1, kind: Node, metadata: {name: node1}}'");
  const std::string start =
      "export IMG=registry.example/ip-rule-operator:latest\n"
      "export AGENT_IMG=registry.example/iprule-agent:latest\n"
      "export OVERLAY=overlays/system\n";
  type(start + R"(
make install
make deploy IMG=$IMG
kubectl create namespace system || true
kubectl apply -f - <<'EOF'
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: Agent
metadata:
  name: default
  namespace: system
spec:
  nodeSelector:
    iprule.operator.brtrm.dev/enabled: "true"
  tolerations:
    - operator: Exists
      effect: NoSchedule
EOF
kubectl label node node1 iprule.operator.brtrm.dev/enabled=true
kubectl apply -f examples/iprule-public.yaml
)");
  type("kubectl get ipruleconfigs");
  EXPECT_THAT(type("kubectl describe agent -n system default"), HasSubstr("iprule.operator.brtrm.dev/enabled"));
  EXPECT_EQ(
      type("kubectl get -n system deploy/ip-rule-operator-manager -o "
           "jsonpath='{.spec.template.spec.containers[0].image} {.spec.template.spec.containers[0].env[0].value}'"),
      "registry.example/ip-rule-operator:latest registry.example/iprule-agent:latest");
  type(start + "make undeploy\nmake uninstall\nkubectl delete node node1");
  EXPECT_EQ(everything(), before);
}

// The second one: both of its ways to install, one after the other, its Agent, its rules, and its removal.
TEST_F(Deploy, D41_the_second_readme_of_the_old_project_can_be_typed) {
  const std::string before = everything();
  type(R"(
kubectl apply -f config/crd/bases/api.operator.brtrm.dev_iprules.yaml
kubectl apply -f config/crd/bases/api.operator.brtrm.dev_ipruleconfigs.yaml
kubectl apply -f config/crd/bases/api.operator.brtrm.dev_agents.yaml
make install
kubectl apply -f dist/install.yaml
export IMG=registry.example/iprule-controller:v0.0.1
export AGENT_IMG=registry.example/iprule-agent:v0.0.1
make deploy IMG=${IMG}
cat <<EOF | kubectl apply -f -
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: Agent
metadata:
  name: agent # MUST be named "agent"
  namespace: ip-rule-operator-system
spec:
  # Optional: Node selector
  nodeSelector:
    kubernetes.io/os: linux
  # Optional: Tolerations for control plane nodes
  tolerations:
  - key: node-role.kubernetes.io/control-plane
    operator: Exists
    effect: NoSchedule
EOF
cat <<EOF | kubectl apply -f -
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata:
  name: datacenter-a-routing
spec:
  cidrs:
    - "192.168.1.0/24"
  table: 100
  priority: 1000
EOF
kubectl get pods -n ip-rule-operator-system
)");
  EXPECT_THAT(type("kubectl get crds | grep api.operator.brtrm.dev"),
              testing::AllOf(HasSubstr("agents."), HasSubstr("ipruleconfigs."), HasSubstr("iprules.")));
  EXPECT_THAT(type("kubectl get iprules"), HasSubstr("datacenter-a-routing"));
  type("kubectl get ipruleconfigs");
  EXPECT_THAT(type("kubectl get agent -n ip-rule-operator-system"), HasSubstr("agent"));
  EXPECT_EQ(type("kubectl get -n ip-rule-operator-system deployment/ip-rule-operator-controller-manager -o "
                 "jsonpath='{.spec.template.spec.containers[0].image}'"),
            "registry.example/iprule-controller:v0.0.1");
  type("make undeploy\nmake uninstall");
  EXPECT_EQ(everything(), before);
}

TEST_F(Deploy, a_second_install_is_refused_while_another_leads) {
  must(cluster_->kubectl({"create", "namespace", "iprule-system"}));
  const auto lease = [&](const std::string& spec) {
    must(cluster_->kubectl({"apply", "-f", "-"},
                           "apiVersion: coordination.k8s.io/v1\nkind: Lease\n"
                           "metadata: {name: fed43742.brtrm.dev, namespace: iprule-system}\nspec: " +
                               spec));
  };
  lease("{holderIdentity: old-manager, renewTime: '2099-01-01T00:00:00.000000Z', leaseDurationSeconds: 15}");
  const testbed::Finished refused = make({"deploy"});
  EXPECT_FALSE(refused.exit.ok());
  EXPECT_THAT(refused.errors, HasSubstr("a controller leads already, in namespace iprule-system (old-manager)"));
  EXPECT_THAT(everything(), Not(HasSubstr(kNamespace)));

  lease("{holderIdentity: '', renewTime: '2099-01-01T00:00:00.000000Z', leaseDurationSeconds: 15}");  // Released.
  expect_made({"deploy"});
  lease("{holderIdentity: crashed, renewTime: '2020-01-01T00:00:00.000000Z', leaseDurationSeconds: 15}");
  expect_made({"deploy"});
  expect_made({"undeploy"});
}

}  // namespace
}  // namespace install_test
