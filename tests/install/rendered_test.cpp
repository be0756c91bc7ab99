// The manifests before any server sees them: complete in themselves, no more rights than needed, fresh in dist/.
#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "install.h"
#include "intent/cluster/agent_template.h"

namespace install_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
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

constexpr const char* kControllerLabels =
    R"({"app.kubernetes.io/name":"ip-rule-operator","control-plane":"controller-manager"})";

// As the old project's, but for what keeps a token short and the root read-only.
TEST_P(Rendered, the_controllers_pod_is_asked_watched_and_bounded_as_the_old_projects) {
  const json::Value spec = deployment_of(objects_).root["spec"];
  const json::Value pod = spec["template"];
  EXPECT_EQ(spec["selector"]["matchLabels"].text(), kControllerLabels);
  EXPECT_EQ(pod["metadata"]["labels"].text(), kControllerLabels);
  EXPECT_EQ(text_at(pod["metadata"]["annotations"]["kubectl.kubernetes.io/default-container"]), "manager");
  EXPECT_EQ(pod["spec"]["terminationGracePeriodSeconds"].text(), "10");
  EXPECT_EQ(pod["spec"]["securityContext"].text(),
            R"({"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}})");

  const auto containers = must(pod["spec"]["containers"].items());
  ASSERT_EQ(containers.size(), 1U);
  const json::Value manager = containers[0];
  EXPECT_EQ(text_at(manager["name"]), "manager");
  EXPECT_THAT(texts_at(manager["command"]), ElementsAre("/manager"));
  EXPECT_THAT(texts_at(manager["args"]),
              IsSupersetOf({"--metrics-bind-address=:8443", "--leader-elect", "--health-probe-bind-address=:8081"}));
  EXPECT_EQ(manager["ports"].text(),
            R"([{"containerPort":8443,"name":"https"},{"containerPort":8081,"name":"probes"}])");
  EXPECT_EQ(manager["livenessProbe"].text(),
            R"({"httpGet":{"path":"/healthz","port":"probes"},"initialDelaySeconds":15,"periodSeconds":20})");
  EXPECT_EQ(manager["readinessProbe"].text(),
            R"({"httpGet":{"path":"/readyz","port":"probes"},"initialDelaySeconds":5,"periodSeconds":10})");
  EXPECT_EQ(manager["resources"].text(),
            R"({"limits":{"cpu":"500m","memory":"128Mi"},"requests":{"cpu":"10m","memory":"64Mi"}})");
  EXPECT_EQ(manager["securityContext"].text(), R"({"allowPrivilegeEscalation":false,)"
                                               R"("capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true})");
}

// Scripts that read the old project's log look for lines with tabs; for everybody else lines are JSON.
TEST_P(Rendered, lines_for_people_are_logged_where_the_old_projects_names_are_and_nowhere_else) {
  const auto containers = must(deployment_of(objects_).root["spec"]["template"]["spec"]["containers"].items());
  const bool is_console = std::ranges::count(texts_at(containers[0]["args"]), "--zap-encoder=console") == 1;
  EXPECT_EQ(is_console, GetParam() == "overlays/iprule-system");
}

// Nothing complains of a selector that selects nothing.
TEST_P(Rendered, what_selects_the_controller_and_the_agents_selects_them) {
  const auto objects = objects_of(render({GetParam(), "network-policy", "prometheus"}));
  const auto of_kind = [&](std::string_view kind, std::string_view name = "") {
    const auto found = std::ranges::find_if(
        objects, [&](const Object& object) { return object.kind == kind && object.name.ends_with(name); });
    if (found == objects.end()) throw std::runtime_error(fmt::format("no {} {}", kind, name));
    EXPECT_EQ(found->name_space, deployment_of(objects).name_space) << kind << " " << name;
    return found->root;
  };
  const json::Value service = of_kind("Service");
  EXPECT_EQ(service["spec"]["selector"].text(), kControllerLabels);
  EXPECT_EQ(service["spec"]["ports"].text(), R"([{"name":"https","port":8443,"protocol":"TCP","targetPort":8443}])");

  const json::Value of_controller = of_kind("ServiceMonitor")["spec"];
  EXPECT_EQ(of_controller["selector"]["matchLabels"].text(), service["metadata"]["labels"].text());
  const auto endpoints = must(of_controller["endpoints"].items());
  EXPECT_EQ(text_at(endpoints[0]["port"]), "https");
  EXPECT_EQ(text_at(endpoints[0]["scheme"]), "https");

  const json::Value of_agents = of_kind("PodMonitor")["spec"];
  const auto agents = intent::agent_daemon_set({}, "image").spec.pod;
  EXPECT_EQ(of_agents["selector"]["matchLabels"].text(), R"({"app":"iprule-agent"})");
  EXPECT_EQ(agents.meta.labels.get("app"), "iprule-agent");
  const auto scraped = must(of_agents["podMetricsEndpoints"].items());
  EXPECT_EQ(text_at(scraped[0]["port"]), agents.spec.containers.at(0).ports.at(0).name);

  const json::Value metrics = of_kind("NetworkPolicy", "allow-metrics-traffic")["spec"];
  EXPECT_EQ(metrics["podSelector"]["matchLabels"].text(), kControllerLabels);
  EXPECT_EQ(metrics["ingress"].text(), R"([{"from":[{"namespaceSelector":{"matchLabels":{"metrics":"enabled"}}}],)"
                                       R"("ports":[{"port":8443,"protocol":"TCP"}]}])");
  EXPECT_EQ(of_kind("NetworkPolicy", "allow-api-traffic")["spec"]["podSelector"]["matchLabels"].text(),
            kControllerLabels);
}

TEST_P(Rendered, a_metrics_certificate_of_the_administrators_is_served_and_checked_by_the_services_name) {
  const auto objects = objects_of(render({GetParam(), "prometheus", "components/metrics-cert"}));
  const json::Value pod = deployment_of(objects).root["spec"]["template"]["spec"];
  const auto containers = must(pod["containers"].items());
  EXPECT_THAT(texts_at(containers[0]["args"]), Contains("--metrics-cert-path=/etc/metrics-cert"));
  EXPECT_THAT(containers[0]["volumeMounts"].text(),
              HasSubstr(R"({"mountPath":"/etc/metrics-cert","name":"metrics-cert","readOnly":true})"));
  EXPECT_THAT(pod["volumes"].text(),
              HasSubstr(R"({"name":"metrics-cert","secret":{"items":[{"key":"tls.crt","path":"tls.crt"},)"
                        R"({"key":"tls.key","path":"tls.key"}],"secretName":"metrics-server-cert"}})"));

  const Object& service = *std::ranges::find(objects, "Service", &Object::kind);
  const Object& monitor = *std::ranges::find(objects, "ServiceMonitor", &Object::kind);
  const auto endpoints = must(monitor.root["spec"]["endpoints"].items());
  const json::Value tls = endpoints[0]["tlsConfig"];
  EXPECT_EQ(text_at(tls["serverName"]), service.name + "." + service.name_space + ".svc");
  EXPECT_EQ(tls["ca"]["secret"].text(), R"({"key":"ca.crt","name":"metrics-server-cert"})");
  EXPECT_FALSE(tls["insecureSkipVerify"].exists());
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
