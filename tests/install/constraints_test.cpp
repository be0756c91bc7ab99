// OpenShift admits a pod by constraints that no other server knows: nobody here would notice that the agent outgrew
// them.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "install.h"
#include "intent/cluster/agent_template.h"

namespace install_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class Constraints : public testing::Test {
 protected:
  static std::string yaml() { return must(base::read_file(kSource / "config/agent/securitycontextconstraints.yaml")); }
  bool allows(const json::Value& what) const { return must(what.boolean()); }

  const std::vector<Object> objects_ = objects_of(yaml());
  const json::Value scc_ = objects_.at(0).root;
  const api::DaemonSet::PodSpec pod_ = intent::agent_daemon_set({}, "image").spec.pod.spec;
  const api::DaemonSet::Container& agent_ = pod_.containers.at(0);
};

TEST_F(Constraints, D45_the_agents_pod_is_admitted_with_what_it_asks_for) {
  EXPECT_EQ(allows(scc_["allowHostNetwork"]), pod_.host_network);
  EXPECT_EQ(allows(scc_["allowHostPorts"]), !agent_.ports.empty());
  EXPECT_EQ(texts_at(scc_["allowedCapabilities"]), agent_.security_context.capabilities.add);
  EXPECT_EQ(allows(scc_["allowPrivilegeEscalation"]), agent_.security_context.allow_privilege_escalation);
  EXPECT_EQ(allows(scc_["readOnlyRootFilesystem"]), agent_.security_context.read_only_root);
  EXPECT_EQ(agent_.security_context.run_as_user, 0);
  EXPECT_EQ(text_at(scc_["runAsUser"]["type"]), "RunAsAny");
  EXPECT_EQ(agent_.security_context.seccomp_profile.type, "RuntimeDefault");
  EXPECT_THAT(texts_at(scc_["seccompProfiles"]), ElementsAre("runtime/default"));
  EXPECT_EQ(pod_.volumes.size(), 1U) << "all its volumes are projected ones";
  EXPECT_THAT(texts_at(scc_["volumes"]), Contains("projected"));
}

TEST_F(Constraints, D45_and_with_nothing_else) {
  EXPECT_EQ(objects_.size(), 1U);
  EXPECT_EQ(objects_[0].kind, "SecurityContextConstraints");
  for (const char* never : {"allowHostPID", "allowHostIPC", "allowHostDirVolumePlugin", "allowPrivilegedContainer",
                            "defaultAllowPrivilegeEscalation"}) {
    EXPECT_FALSE(allows(scc_[never])) << never;
  }
  EXPECT_THAT(texts_at(scc_["defaultAddCapabilities"]), IsEmpty());
  EXPECT_THAT(texts_at(scc_["volumes"]),
              UnorderedElementsAre("configMap", "downwardAPI", "emptyDir", "projected", "secret"));
  EXPECT_EQ(text_at(scc_["seLinuxContext"]["type"]), "MustRunAs");
  EXPECT_THAT(texts_at(scc_["users"]), IsEmpty());
  EXPECT_THAT(texts_at(scc_["groups"]), IsEmpty());
}

TEST_F(Constraints, the_agents_account_may_use_them_by_their_name) {
  for (const Object& role : objects_of(render({"default"}))) {
    if (!role.name.ends_with("agent-scc-role")) continue;
    const auto rules = must(role.root["rules"].items());
    ASSERT_EQ(rules.size(), 1U);
    EXPECT_THAT(texts_at(rules[0]["resourceNames"]), ElementsAre(objects_[0].name));
    EXPECT_THAT(texts_at(rules[0]["verbs"]), ElementsAre("use"));
    return;
  }
  FAIL() << "no role to use the constraints";
}

}  // namespace
}  // namespace install_test
