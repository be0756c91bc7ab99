// The manifests before any server sees them: complete in themselves, no more rights than needed, fresh in dist/.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "install.h"

namespace install_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string version() {
  std::string text = must(base::read_file(kSource / "VERSION"));
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// "ServiceAccount/system/iprule-agent"; cluster-scoped kinds have an empty middle.
std::set<std::string> identities(const std::vector<Object>& objects) {
  std::set<std::string> ids;
  for (const Object& object : objects) ids.insert(object.kind + "/" + object.name_space + "/" + object.name);
  return ids;
}

bool is_role(const Object& object) {
  return object.kind == "Role" || object.kind == "ClusterRole";
}

bool is_binding(const Object& object) {
  return object.kind == "RoleBinding" || object.kind == "ClusterRoleBinding";
}

const Object& deployment_of(const std::vector<Object>& objects) {
  return *std::ranges::find(objects, "Deployment", &Object::kind);
}

class Rendered : public testing::TestWithParam<std::string> {
 protected:
  const std::string yaml_ = render({GetParam()});
  const std::vector<Object> objects_ = objects_of(yaml_);
  const std::set<std::string> ids_ = identities(objects_);
};

INSTANTIATE_TEST_SUITE_P(Overlay, Rendered, testing::ValuesIn(kOverlays), [](const auto& overlay) {
  std::string name = overlay.param;
  std::ranges::replace_if(name, [](char c) { return c == '/' || c == '-'; }, '_');
  return name;
});

TEST_P(Rendered, D40_every_binding_joins_a_rendered_role_to_a_rendered_account) {
  int subjects_seen = 0;
  for (const Object& binding : objects_) {
    if (!is_binding(binding)) continue;
    const json::Value role = binding.root["roleRef"];
    const std::string kind = text_at(role["kind"]);
    EXPECT_THAT(ids_, Contains(kind + "/" + (kind == "Role" ? binding.name_space : "") + "/" + text_at(role["name"])))
        << binding.name;
    const auto subjects = must(binding.root["subjects"].items());
    for (const json::Value& subject : subjects) {
      ++subjects_seen;
      EXPECT_THAT(ids_, Contains("ServiceAccount/" + text_at(subject["namespace"]) + "/" + text_at(subject["name"])))
          << binding.name;
    }
  }
  EXPECT_GE(subjects_seen, 6);
  const Object& deployment = deployment_of(objects_);
  EXPECT_THAT(ids_, Contains("ServiceAccount/" + deployment.name_space + "/" +
                             text_at(deployment.root["spec"]["template"]["spec"]["serviceAccountName"])));
}

// Policies name accounts inside expressions, where kustomize does not look.
TEST_P(Rendered, D40_every_account_a_policy_names_is_rendered) {
  int named = 0;
  for (const Object& policy : objects_) {
    if (policy.kind != "ValidatingAdmissionPolicy") continue;
    const auto conditions = must(policy.root["spec"]["matchConditions"].items());
    for (const json::Value& condition : conditions) {
      const std::string expression = text_at(condition["expression"]);
      const std::string begin = "'serviceaccount', '";
      const std::size_t at = expression.find(begin);
      if (at == std::string::npos) continue;
      const std::size_t name_space = at + begin.size();
      const std::size_t between = expression.find("', '", name_space);
      const std::size_t name = between + 4;
      EXPECT_THAT(ids_, Contains("ServiceAccount/" + expression.substr(name_space, between - name_space) + "/" +
                                 expression.substr(name, expression.find('\'', name) - name)))
          << policy.name;
      ++named;
    }
  }
  EXPECT_EQ(named, 2);
  EXPECT_THAT(ids_, Contains("ServiceAccount/" + deployment_of(objects_).name_space + "/iprule-agent"));
}

TEST_P(Rendered, D45_no_role_has_a_wildcard_or_reads_secrets) {
  for (const Object& role : objects_) {
    if (!is_role(role)) continue;
    const auto rules = must(role.root["rules"].items());
    for (const json::Value& rule : rules) {
      EXPECT_THAT(texts_at(rule["verbs"]), Not(Contains("*"))) << role.name;
      EXPECT_THAT(texts_at(rule["apiGroups"]), Not(Contains("*"))) << role.name;
      EXPECT_THAT(texts_at(rule["resources"]), Not(Contains("*"))) << role.name;
      EXPECT_THAT(texts_at(rule["resources"]), Not(Contains("secrets"))) << role.name;
    }
  }
}

TEST_P(Rendered, D50_only_the_controller_may_write_what_nodes_obey) {
  const std::set<std::string> writing{"create", "update", "patch", "delete", "deletecollection"};
  for (const Object& role : objects_) {
    if (!is_role(role) || role.name.ends_with("manager-role")) continue;
    const auto rules = must(role.root["rules"].items());
    for (const json::Value& rule : rules) {
      const auto resources = texts_at(rule["resources"]);
      if (!std::ranges::count(resources, "ipruleconfigs") && !std::ranges::count(resources, "nodestates")) continue;
      for (const std::string& verb : texts_at(rule["verbs"])) EXPECT_FALSE(writing.contains(verb)) << role.name;
    }
  }
}

TEST_P(Rendered, D46_the_namespace_lets_agents_use_the_hosts_network) {
  const auto name_space = std::ranges::find(objects_, "Namespace", &Object::kind);
  EXPECT_EQ(name_space->name, deployment_of(objects_).name_space);
  EXPECT_EQ(text_at(name_space->root["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]), "privileged");
}

TEST_P(Rendered, D41_images_are_pinned_to_this_version) {
  const auto containers = must(deployment_of(objects_).root["spec"]["template"]["spec"]["containers"].items());
  EXPECT_EQ(text_at(containers[0]["image"]), "iprule-controller:v" + version());
  const auto environment = must(containers[0]["env"].items());
  EXPECT_EQ(text_at(environment[0]["name"]), "RELATED_IMAGE_AGENT_IMAGE");
  EXPECT_EQ(text_at(environment[0]["value"]), "iprule-agent:v" + version());
}

TEST_P(Rendered, nothing_cluster_wide_claims_a_namespace) {
  for (const Object& object : objects_) {
    const bool cluster_wide = object.kind == "Namespace" || object.kind.starts_with("Cluster") ||
                              object.kind.starts_with("Validating") || object.kind.starts_with("Custom");
    EXPECT_EQ(object.name_space.empty(), cluster_wide) << object.kind << " " << object.name;
  }
}

TEST(RenderedNames, D41_dist_is_fresh) {
  EXPECT_EQ(must(base::read_file(kSource / "dist/install.yaml")), render({"default"})) << "run make build-installer";
  EXPECT_EQ(must(base::read_file(kSource / "dist/install-iprule-system.yaml")), render({"overlays/iprule-system"}))
      << "run make build-installer";
}

TEST(RenderedNames, the_old_projects_names_are_kept) {
  const auto ids = identities(objects_of(render({"overlays/iprule-system"})));
  for (const char* id :
       {"Namespace//iprule-system", "ServiceAccount/iprule-system/iprule-controller-manager",
        "ServiceAccount/iprule-system/iprule-agent", "Role/iprule-system/iprule-leader-election-role",
        "RoleBinding/iprule-system/iprule-leader-election-rolebinding", "ClusterRole//iprule-manager-role",
        "ClusterRole//iprule-metrics-auth-role", "ClusterRole//iprule-metrics-reader", "ClusterRole//iprule-agent-role",
        "ClusterRole//iprule-agent-scc-role", "ClusterRole//iprule-agent-admin-role",
        "ClusterRole//iprule-agent-editor-role", "ClusterRole//iprule-agent-viewer-role",
        "ClusterRoleBinding//iprule-manager-rolebinding", "ClusterRoleBinding//iprule-metrics-auth-rolebinding",
        "ClusterRoleBinding//iprule-agent-binding", "ClusterRoleBinding//iprule-agent-scc-binding",
        "Service/iprule-system/iprule-controller-manager-metrics-service",
        "Deployment/iprule-system/iprule-controller-manager"})
    EXPECT_THAT(ids, Contains(id));
  EXPECT_THAT(identities(objects_of(render({"overlays/system"}))),
              Contains("Deployment/system/ip-rule-operator-manager"));
}

TEST(RenderedNames, one_replica_for_the_old_names_and_two_with_a_budget_by_default) {
  const auto replicas = [](const std::vector<Object>& objects) {
    return must(deployment_of(objects).root["spec"]["replicas"].integer<int>());
  };
  const auto standard = objects_of(render({"default"}));
  EXPECT_EQ(replicas(standard), 2);
  EXPECT_THAT(identities(standard), Contains("PodDisruptionBudget/" + kNamespace + "/" + kController));
  EXPECT_EQ(replicas(objects_of(render({"overlays/iprule-system"}))), 1);
  EXPECT_EQ(replicas(objects_of(render({"overlays/system"}))), 1);
}

TEST(RenderedNames, images_and_components_are_what_the_administrator_says) {
  const auto yaml =
      render({"default", "network-policy", "prometheus", "components/image-list"},
             {"IMG=registry.example:5000/net/controller@sha256:1234", "AGENT_IMG=registry.example:5000/net/agent:7"});
  const auto objects = objects_of(yaml);
  const auto containers = must(deployment_of(objects).root["spec"]["template"]["spec"]["containers"].items());
  EXPECT_EQ(text_at(containers[0]["image"]), "registry.example:5000/net/controller@sha256:1234");
  EXPECT_THAT(yaml, HasSubstr("value: registry.example:5000/net/agent:7\n"));
  const auto list = std::ranges::find(objects, "ConfigMap", &Object::kind);
  ASSERT_NE(list, objects.end());
  EXPECT_EQ(text_at(list->root["data"]["images"]),
            "registry.example:5000/net/agent:\nregistry.example:5000/net/agent@\n");
  const auto ids = identities(objects);
  EXPECT_THAT(ids, Contains("NetworkPolicy/" + kNamespace + "/allow-metrics-traffic"));
  EXPECT_THAT(ids, Contains("ServiceMonitor/" + kNamespace + "/controller-manager-metrics-monitor"));
  EXPECT_THAT(ids, Contains("PodMonitor/" + kNamespace + "/agent-metrics-monitor"));
}

TEST(RenderedNames, undeploy_leaves_the_kinds) {
  EXPECT_THAT(render({"--without-crds", "default"}), Not(HasSubstr("kind: CustomResourceDefinition")));
}

}  // namespace
}  // namespace install_test
