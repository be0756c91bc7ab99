// Every overlay on the real API server, what both generations of the old project's users then apply, and the words of
// the old documentation. No controller runs here: this is about what the server takes.
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "install.h"

namespace install_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// The lines of kubectl's answer that speak of a change. It replaces a budget's selector each time, by the same one.
std::vector<std::string> changes(const std::string& answer) {
  std::vector<std::string> found;
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    if (!line.ends_with(" unchanged") && !line.starts_with("poddisruptionbudget")) found.push_back(line);
  }
  return found;
}

class Apply : public testing::Test {
 protected:
  std::string kubectl(std::vector<std::string> arguments, std::string input = {}) {
    const auto output = cluster_.kubectl(std::move(arguments), std::move(input));
    EXPECT_TRUE(output) << output.error().message();
    return output.value_or("");
  }

  testbed::Cluster& cluster_ = installed();
};

TEST_F(Apply, every_overlay_applies_and_again_changes_nothing) {
  for (const std::string& overlay : kOverlays) {
    const std::string yaml = render({overlay});
    kubectl({"apply", "-f", "-"}, yaml);
    EXPECT_THAT(changes(kubectl({"apply", "-f", "-"}, yaml)), IsEmpty()) << overlay;
  }
  kubectl({"apply", "-f", (kSource / "dist/install.yaml").native()});  // Policies name one install: the one under test.
}

// The first documentation, steps 3 and 5, letter by letter.
TEST_F(Apply, manifests_of_the_first_generation_apply_unchanged) {
  kubectl({"apply", "-f", "-"}, render({"overlays/system"}));
  kubectl({"apply", "-f", "-"}, R"(apiVersion: api.operator.brtrm.dev/v1alpha1
kind: Agent
metadata:
  name: default
  namespace: system
spec:
  image: my-registry/iprule-agent:v1.0.0
  nodeSelector:
    iprule.operator.brtrm.dev/enabled: "true"
  tolerations:
    - operator: Exists
      effect: NoSchedule
)");
  kubectl({"apply", "-f", "-"}, R"(apiVersion: v1
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
)");
  kubectl({"apply", "-f", (kSource / "examples/iprule-public.yaml").native()});
  kubectl({"describe", "agent", "-n", "system", "default"});
  kubectl({"get", "ipruleconfigs"});
  EXPECT_THAT(kubectl({"get", "-n", "system", "deploy/ip-rule-operator-manager"}),
              HasSubstr("ip-rule-operator-manager"));
  kubectl({"delete", "iprule,agent", "--all", "--all-namespaces"});
  kubectl({"apply", "-f", (kSource / "dist/install.yaml").native()});
}

TEST_F(Apply, manifests_of_the_second_generation_apply_unchanged) {
  kubectl({"apply", "-f", "-"}, R"(apiVersion: api.operator.brtrm.dev/v1alpha1
kind: Agent
metadata:
  name: agent # MUST be named "agent"
  namespace: ip-rule-operator-system
spec:
  # Optional: Specific image
  # image: registry.example/iprule-agent:v0.0.1
  # Optional: Node selector
  nodeSelector:
    kubernetes.io/os: linux
  # Optional: Tolerations for control plane nodes
  tolerations:
  - key: node-role.kubernetes.io/control-plane
    operator: Exists
    effect: NoSchedule
)");
  kubectl({"apply", "-f", "-"}, R"(apiVersion: api.operator.brtrm.dev/v1alpha1
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
  name: datacenter-c-priority
spec:
  cidrs:
  - "10.2.0.0/16"
  table: 300
  priority: 2000
)");
  EXPECT_THAT(kubectl({"get", "crds", "-o", "name"}), HasSubstr("agents.api.operator.brtrm.dev"));
  EXPECT_THAT(kubectl({"get", "agent", "-n", "ip-rule-operator-system"}), HasSubstr("agent"));
  EXPECT_THAT(kubectl({"get", "iprules"}), HasSubstr("datacenter-c-priority"));
  kubectl({"get", "-n", "ip-rule-operator-system", "deployment/ip-rule-operator-controller-manager"});
  kubectl({"delete", "iprule,agent", "--all", "--all-namespaces"});
}

TEST_F(Apply, samples_apply) {
  kubectl({"apply", "-k", (kSource / "config/samples").native()});
  kubectl({"delete", "-k", (kSource / "config/samples").native()});
}

// The namespace is labelled for the agents; the controller itself asks for nothing that the strictest level refuses.
TEST_F(Apply, the_controllers_pod_passes_the_restricted_level) {
  kubectl({"create", "namespace", "strict"});
  kubectl({"label", "namespace", "strict", "pod-security.kubernetes.io/enforce=restricted"});
  kubectl({"create", "serviceaccount", kController, "--namespace=strict"});
  for (const Object& object : objects_of(render({"default"}))) {
    if (object.kind != "Deployment") continue;
    kubectl(
        {"create", "--dry-run=server", "-f", "-"},
        fmt::format(R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"a","namespace":"strict"}},"spec":{}}})",
                    object.root["spec"]["template"]["spec"].text()));
    return;
  }
  FAIL() << "no Deployment";
}

}  // namespace
}  // namespace install_test
