// How to install and look, from the two READMEs of the old project, typed as they stand there as far as no registry and
// no OLM is needed. What is typed otherwise is said where it is.
#include <algorithm>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "real_node.h"
#include "testbed/eventually.h"

namespace node_test {
namespace {

using testbed::eventually;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The registry is the one thing nobody has here: the nodes have the images already, by these names.
constexpr const char* kImages = R"(
export IMG=iprule-controller:v$(cat VERSION)
export AGENT_IMG=iprule-agent:v$(cat VERSION)
)";

class RealNodeOldReadme : public RealNode {
 protected:
  void SetUp() override {
    RealNode::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    withdraw_services();
    uninstall();
  }
  void TearDown() override {
    RealNode::TearDown();
    if (IsSkipped() || cluster_ == nullptr || !HasFailure()) return;
    for (const char* overlay : {"default", "overlays/system"}) {  // For the tests after this one.
      type(fmt::format("make undeploy uninstall OVERLAY={} ignore-not-found=true", overlay));
    }
    kubectl({"delete", "service", "demo", "--ignore-not-found"});
  }

  // As the load balancer's controller does it; returns the Service's ClusterIPs.
  std::vector<std::string> give_address(const std::vector<std::string>& vips) {
    std::string list;
    for (const std::string& vip : vips) list += fmt::format(R"({}{{"ip":"{}"}})", list.empty() ? "" : ",", vip);
    kubectl({"patch", "service", "demo", "--subresource=status", "--type=merge", "-p",
             fmt::format(R"({{"status":{{"loadBalancer":{{"ingress":[{}]}}}}}})", list)});
    std::istringstream in(kubectl({"get", "service", "demo", "-o", "jsonpath={.spec.clusterIPs[*]}"}));
    return {std::istream_iterator<std::string>(in), {}};
  }
  testing::AssertionResult becomes_ready(const std::string& agent, const std::string& name_space) {
    return eventually("the Agent is ready", kBound, [&] {
      return kubectl({"get", "agent", agent, "-n", name_space, "-o",
                      R"(jsonpath={.status.conditions[?(@.type=="Ready")].reason})"}) == "AllReady";
    });
  }
  testing::AssertionResult rule_appears(testbed::Node& node, const std::string& line) {
    return eventually(line, kBound, [&] { return rules(node).contains(line); });
  }
};

// The first README, steps 2 to 6. It installs into the namespace `system` with a Deployment `ip-rule-operator-manager`:
// that is our overlay of the same name, and the one line that is added.
TEST_F(RealNodeOldReadme, the_first_one_leads_to_a_rule_on_the_node_that_was_labelled) {
  const std::string start = std::string(kImages) + "export OVERLAY=overlays/system\n";
  type(start + R"(
make install
make deploy IMG=$IMG
)");
  type(R"(
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
)");
  testbed::Node& labelled = *nodes()[0];
  testbed::Node& other = *nodes()[1];
  type(fmt::format("kubectl label node {} iprule.operator.brtrm.dev/enabled=true", labelled.name()));
  type("kubectl apply -f examples/iprule-public.yaml");
  type(R"(
kubectl apply -f - <<'EOF'
apiVersion: v1
kind: Service
metadata:
  name: demo
  namespace: default
spec:
  selector:
    app: demo
  type: LoadBalancer
  ports:
    - port: 80
      targetPort: 8080
---
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata:
  name: public-eu
spec:
  cidr: 203.0.113.0/24
  table: 100
  priority: 1000
  nodeSelectorLabel: iprule.operator.brtrm.dev/enabled
EOF
)");
  const std::string source = give_address({"203.0.113.45"}).front();
  EXPECT_TRUE(becomes_ready("default", "system"));
  EXPECT_TRUE(rule_appears(labelled, fmt::format("1000:\tfrom {} lookup 100", source)));
  EXPECT_THAT(rules(other), Not(HasSubstr("proto 183")));

  std::string name = "iprc-" + source;
  std::ranges::replace(name, '.', '-');
  EXPECT_THAT(type("kubectl get ipruleconfigs"), AllOf(HasSubstr(name), HasSubstr(source), HasSubstr("present")));
  EXPECT_THAT(type("kubectl describe agent -n system default"), HasSubstr("AllReady"));
  EXPECT_THAT(type("kubectl get ds -n system iprule-agent"), HasSubstr("iprule-agent   1         1         1"));
  EXPECT_THAT(type("kubectl logs -n system deploy/ip-rule-operator-manager"), HasSubstr("Serving metrics server"));
  EXPECT_THAT(type("kubectl logs -n system ds/iprule-agent"), HasSubstr(source));
  EXPECT_TRUE(labelled.run({"sh", "-c", fmt::format("ip rule list | grep {}", source)}));
  const std::string metrics = labelled.run({"curl", "-s", "http://127.0.0.1:9090/metrics"}).value_or("");
  for (const char* metric :
       {"rules_added_total", "rules_deleted_total", "rule_errors_total", "ipruleconfigs_processed_total",
        "desired_rules", "present_rules", "absent_rules", "reconcile_duration_seconds_count"}) {
    EXPECT_THAT(metrics, HasSubstr(fmt::format("\niprule_agent_{} ", metric)));
  }
  EXPECT_THAT(labelled.run({"curl", "-s", "http://127.0.0.1:9090/health"}).value_or(""), HasSubstr("ok"));
  EXPECT_THAT(labelled.run({"curl", "-s", "http://127.0.0.1:9090/ready"}).value_or(""), HasSubstr("ready"));

  type("kubectl delete service demo");
  EXPECT_TRUE(eventually("the rule is gone", kBound, [&] { return !rules(labelled).contains(source); }));
  type(start + "make undeploy\nmake uninstall");
  type(fmt::format("kubectl label node {} iprule.operator.brtrm.dev/enabled-", labelled.name()));
  EXPECT_THAT(type("kubectl get namespaces,crds -o name"),
              AllOf(Not(HasSubstr("namespace/system\n")), Not(HasSubstr("api.operator.brtrm.dev"))));
}

// The second README: both ways to install, one after the other, its Agent, its rules, what it looks at, and its
// removal.
TEST_F(RealNodeOldReadme, the_second_one_leads_to_rules_of_both_families_on_every_node) {
  type(R"(
kubectl apply -f config/crd/bases/api.operator.brtrm.dev_iprules.yaml
kubectl apply -f config/crd/bases/api.operator.brtrm.dev_ipruleconfigs.yaml
kubectl apply -f config/crd/bases/api.operator.brtrm.dev_agents.yaml
make install
kubectl apply -f dist/install.yaml
)");
  type(std::string(kImages) + "make deploy IMG=${IMG}");
  type(R"(
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
)");
  EXPECT_TRUE(becomes_ready("agent", kNamespace));
  EXPECT_THAT(type("kubectl get pods -n ip-rule-operator-system"),
              AllOf(HasSubstr("ip-rule-operator-controller-manager-"), HasSubstr("iprule-agent-")));
  EXPECT_THAT(type("kubectl get daemonset -n ip-rule-operator-system iprule-agent"),
              HasSubstr("iprule-agent   2         2         2"));
  EXPECT_THAT(type("kubectl get crds | grep api.operator.brtrm.dev"),
              AllOf(HasSubstr("agents."), HasSubstr("ipruleconfigs."), HasSubstr("iprules.")));

  type(R"(
cat <<EOF | kubectl apply -f -
---
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata:
  name: datacenter-a
spec:
  cidrs:
  - "10.0.0.0/16"
  - "fd00:10::/64"
  table: 100
  priority: 1000
---
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata:
  name: datacenter-b
spec:
  cidrs:
  - "10.1.0.0/16"
  - "fd00:20::/64"
  table: 200
  priority: 1000
---
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata:
  name: datacenter-c-priority
spec:
  cidrs:
  - "10.2.0.0/16"
  table: 300
  priority: 2000
---
apiVersion: v1
kind: Service
metadata: {name: demo, namespace: default}
spec: {type: LoadBalancer, ipFamilyPolicy: RequireDualStack, selector: {app: demo}, ports: [{port: 80}]}
EOF
)");
  const auto sources = give_address({"10.1.0.10", "fd00:20::10"});
  ASSERT_EQ(sources.size(), 2U);
  for (const auto& node : nodes()) {
    for (const std::string& source : sources) {
      EXPECT_TRUE(rule_appears(*node, fmt::format("1000:\tfrom {} lookup 200", source)));
    }
    EXPECT_THAT(node->run({"ip", "rule", "show"}).value_or(""), HasSubstr(sources[0]));
    EXPECT_THAT(node->run({"ip", "-6", "rule", "show"}).value_or(""), HasSubstr(sources[1]));
  }
  EXPECT_THAT(type("kubectl get iprules"), AllOf(HasSubstr("datacenter-a"), HasSubstr("datacenter-c-priority")));
  EXPECT_THAT(type("kubectl get ipruleconfigs"), AllOf(HasSubstr(sources[0]), HasSubstr(sources[1])));
  EXPECT_THAT(type("kubectl get agent -n ip-rule-operator-system"), HasSubstr("agent"));
  EXPECT_THAT(type("kubectl logs -n ip-rule-operator-system -l app=iprule-agent --tail=100"), HasSubstr(sources[0]));
  EXPECT_THAT(type("kubectl logs -n ip-rule-operator-system deployment/ip-rule-operator-controller-manager --tail=100"),
              Not(testing::IsEmpty()));

  type("kubectl delete service demo");
  type("make undeploy");
  for (const auto& node : nodes()) EXPECT_THAT(rules(*node), Not(HasSubstr("proto 183"))) << node->name();
  type("make uninstall");
  EXPECT_THAT(type("kubectl get namespaces,crds -o name"),
              AllOf(Not(HasSubstr(kNamespace)), Not(HasSubstr("api.operator.brtrm.dev"))));
}

}  // namespace
}  // namespace node_test
