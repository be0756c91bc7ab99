// What the API server lets the two programs do, asked for everything it serves: exactly the tables below, in which a
// reviewer sees a new right at once.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "install.h"

namespace install_test {
namespace {

constexpr const char* kOurs = "api.operator.brtrm.dev";

struct Grant {
  std::vector<std::string> verbs;
  std::string group;
  std::vector<std::string> resources;
  std::string name_space = {};  // Empty: everywhere.
  std::string name = {};        // Empty: any, and none.
};

const std::vector<std::string> kRead{"get", "list", "watch"};
const std::vector<std::string> kStatus{"get", "update", "patch"};

const std::vector<Grant> kControllerMay{
    {kRead, "", {"services", "nodes"}},
    {kRead, "discovery.k8s.io", {"endpointslices"}},
    {kRead, kOurs, {"iprules", "agents"}},
    {kStatus, kOurs, {"iprules/status", "agents/status", "ipruleconfigs/status"}},
    {{"update"}, kOurs, {"iprules/finalizers", "agents/finalizers"}},
    {{"get", "list", "watch", "create", "update", "patch", "delete"}, kOurs, {"ipruleconfigs", "nodestates"}},
    {{"create", "patch"}, "", {"events"}},
    {{"create", "patch"}, "events.k8s.io", {"events"}},
    {{"create"}, "authentication.k8s.io", {"tokenreviews"}},
    {{"create"}, "authorization.k8s.io", {"subjectaccessreviews"}},
    {{"create"}, "apps", {"daemonsets"}, kNamespace},
    {{"get", "list", "watch", "update", "patch", "delete"}, "apps", {"daemonsets"}, kNamespace, "iprule-agent"},
    {kRead, "", {"pods", "events"}, kNamespace},
    {{"get"}, "", {"serviceaccounts"}, kNamespace, "iprule-agent"},
    {{"create"}, "coordination.k8s.io", {"leases"}, kNamespace},
    {{"get", "update", "patch"}, "coordination.k8s.io", {"leases"}, kNamespace, "fed43742.brtrm.dev"},
};

const std::vector<Grant> kAgentMay{
    {kRead, kOurs, {"ipruleconfigs", "agents", "nodestates"}},
    {kRead, "", {"nodes"}},
    {{"patch"}, kOurs, {"nodestates/status"}},
};

const std::vector<Grant> kViewerMay{
    {kRead, kOurs, {"iprules", "agents", "ipruleconfigs", "nodestates"}},
    {kRead, "", {"services", "nodes", "namespaces", "pods"}},
    {kRead, "discovery.k8s.io", {"endpointslices"}},
    {kRead, "apps", {"deployments", "daemonsets"}},
    {kRead, "coordination.k8s.io", {"leases"}},
};

const std::vector<std::string> kEdit{"get", "list", "watch", "create", "update", "patch", "delete"};
const std::vector<std::string> kAdminister{"get",    "list",  "watch",  "create",
                                           "update", "patch", "delete", "deletecollection"};

// Of one of the kinds that people write, and what they see of what is made of it.
std::vector<Grant> people_may(const std::vector<std::string>& verbs, const std::string& kind,
                              const std::vector<std::string>& generated) {
  return {{verbs, kOurs, {kind}}, {{"get"}, kOurs, {kind + "/status"}}, {kRead, kOurs, generated}};
}

struct Question {
  std::string verb;
  std::string group;
  std::string resource;  // With its subresource: "pods/log".
  std::string name_space = {};
  std::string name = {};

  std::string text() const {
    return fmt::format("{} {}{}{} {}{}", verb, resource, group.empty() ? "" : ".", group,
                       name.empty() ? "" : "named " + name + " ",
                       name_space.empty() ? "everywhere" : "in " + name_space);
  }
};

bool granted(const std::vector<Grant>& grants, const Question& question) {
  return std::ranges::any_of(grants, [&](const Grant& grant) {
    return grant.group == question.group && std::ranges::count(grant.verbs, question.verb) > 0 &&
           std::ranges::count(grant.resources, question.resource) > 0 &&
           (grant.name_space.empty() || grant.name_space == question.name_space) &&
           (grant.name.empty() || grant.name == question.name);
  });
}

class Permissions : public testing::Test {
 protected:
  static void SetUpTestSuite() { installed(); }

  std::string get(const std::string& path) {
    return must(client_->send({.method = "GET", .target = path, .headers = {}, .body = {}}, soon())).body;
  }

  // Every resource and subresource of every group, with every verb, at every place where the answer may differ. A
  // subresource needs no discovery to be asked for: finalizers are served nowhere.
  std::vector<Question> questions() {
    std::vector<Question> all;
    add_resources(all, "", "/api/v1");
    json::Reader reader;
    const std::string groups = get("/apis");
    const auto items = must(must(reader.parse(groups))["groups"].items());
    for (const json::Value& group : items)
      add_resources(all, text_at(group["name"]), "/apis/" + text_at(group["preferredVersion"]["groupVersion"]));
    for (const char* kind : {"iprules", "agents", "ipruleconfigs", "nodestates"})
      add(all, kOurs, std::string(kind) + "/finalizers", true);
    return all;
  }

  // What a role of ours for people could be about, and some that none must be about.
  static std::vector<Question> questions_about_us() {
    std::vector<Question> all;
    for (const char* kind : {"iprules", "agents", "ipruleconfigs", "nodestates"}) {
      for (const char* part : {"", "/status", "/finalizers"}) add(all, kOurs, std::string(kind) + part, true);
    }
    for (const char* resource : {"secrets", "services", "nodes", "pods", "pods/exec"}) add(all, "", resource, true);
    add(all, "apps", "daemonsets", true);
    return all;
  }

  void add_resources(std::vector<Question>& all, const std::string& group, const std::string& path) {
    json::Reader reader;
    const std::string body = get(path);
    const auto resources = must(must(reader.parse(body))["resources"].items());
    for (const json::Value& resource : resources)
      add(all, group, text_at(resource["name"]), must(resource["namespaced"].boolean()));
  }

  static void add(std::vector<Question>& all, const std::string& group, const std::string& resource, bool namespaced) {
    static const std::set<std::string> kNamed{"daemonsets", "leases", "serviceaccounts", "serviceaccounts/token"};
    std::vector<std::string> places{""};
    if (namespaced) places.insert(places.end(), {kNamespace, "default"});
    std::vector<std::string> names{""};
    if (kNamed.contains(resource)) names.insert(names.end(), {"iprule-agent", "fed43742.brtrm.dev", "other"});
    for (const char* verb : {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection",
                             "impersonate", "bind", "escalate", "approve", "sign", "use"}) {
      for (const std::string& place : places) {
        for (const std::string& name : names) all.push_back({verb, group, resource, place, name});
      }
    }
  }

  bool allowed(const std::string& user, const Question& question) {
    const std::size_t slash = question.resource.find('/');
    const std::string subresource = slash == std::string::npos ? "" : question.resource.substr(slash + 1);
    const std::string body = fmt::format(
        R"({{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{{"user":"{}","groups":[
           "system:serviceaccounts","system:serviceaccounts:{}","system:authenticated"],"resourceAttributes":{{"verb":"{}",
           "group":"{}","resource":"{}","subresource":"{}","namespace":"{}","name":"{}"}}}}}})",
        user, kNamespace, question.verb, question.group, question.resource.substr(0, slash), subresource,
        question.name_space, question.name);
    json::Reader reader;
    const std::string answer =
        must(client_->create({"authorization.k8s.io", "v1", "subjectaccessreviews", false}, "", body, soon()));
    return must(must(reader.parse(answer))["status"]["allowed"].boolean());
  }

  void expect_exactly(const std::string& user, const std::vector<Grant>& grants, const std::vector<Question>& all) {
    int yes = 0;
    for (const Question& question : all) {
      const bool answer = allowed(user, question);
      if (answer) ++yes;
      if (answer == granted(grants, question)) continue;
      // What every account may do (reviews of itself) is no right of ours.
      if (answer && allowed("system:serviceaccount:" + kNamespace + ":nobody", question)) continue;
      ADD_FAILURE() << user << (answer ? " may, unexpectedly: " : " may not: ") << question.text();
    }
    fmt::print("{}: {} of {} questions answered yes\n", user, yes, all.size());
    EXPECT_GT(yes, 0);
  }

  std::unique_ptr<kube::Client> client_ = api_test::admin();
};

TEST_F(Permissions, D45_the_controller_may_do_this_and_nothing_else) {
  expect_exactly(kControllerUser, kControllerMay, questions());
}

TEST_F(Permissions, D45_an_agent_may_do_this_and_nothing_else) {
  expect_exactly(kAgentUser, kAgentMay, questions());
}

TEST_F(Permissions, who_may_ask_with_iprulectl_may_read_this_and_nothing_else) {
  const std::string viewer = "system:serviceaccount:" + kNamespace + ":viewer";
  must(installed().kubectl({"create", "clusterrolebinding", "viewer", "--clusterrole",
                            "ip-rule-operator-iprulectl-viewer-role", "--serviceaccount", kNamespace + ":viewer"}));
  EXPECT_TRUE(
      testbed::eventually("the binding counts", kBound, [&] { return allowed(viewer, {"list", kOurs, "iprules"}); }));
  expect_exactly(viewer, kViewerMay, questions());
}

TEST_F(Permissions, R16_people_have_three_roles_for_each_of_the_two_kinds_they_write) {
  const std::vector<Question> all = questions_about_us();
  for (const auto& [suffix, verbs] :
       {std::pair("admin", kAdminister), std::pair("editor", kEdit), std::pair("viewer", kRead)}) {
    for (const auto& [kind, generated] : {std::pair<std::string, std::vector<std::string>>("agent", {"nodestates"}),
                                          {"iprule", {"ipruleconfigs", "nodestates"}}}) {
      const std::string role = fmt::format("ip-rule-operator-{}-{}-role", kind, suffix);
      must(installed().kubectl({"create", "clusterrolebinding", role, "--clusterrole", role, "--user", role}));
      const std::string written = kind + "s";
      EXPECT_TRUE(
          testbed::eventually("the binding counts", kBound, [&] { return allowed(role, {"list", kOurs, written}); }));
      expect_exactly(role, people_may(verbs, written, generated), all);
    }
  }
}

TEST_F(Permissions, a_prepared_namespace_lets_the_controller_deploy_there_and_no_further) {
  testbed::TempFolder folder;
  const auto component = std::filesystem::relative(kSource / "config/components/agent-namespace", folder.path());
  must(base::write_file(folder / "kustomization.yaml",
                        "namespace: team-net\ncomponents: [" + component.native() + "]\n"));
  must(installed().kubectl({"create", "namespace", "team-net"}));
  must(installed().kubectl({"create", "namespace", "team-other"}));
  const Question create{"create", "apps", "daemonsets", "team-net"};
  EXPECT_FALSE(allowed(kControllerUser, create));
  must(installed().kubectl({"apply", "-k", folder.path().native()}));
  EXPECT_TRUE(testbed::eventually("the binding counts", kBound, [&] { return allowed(kControllerUser, create); }));
  EXPECT_TRUE(allowed(kControllerUser, {"watch", "", "pods", "team-net"}));
  EXPECT_FALSE(allowed(kControllerUser, {"create", "apps", "daemonsets", "team-other"}));
  const std::string agent = "system:serviceaccount:team-net:iprule-agent";
  EXPECT_TRUE(testbed::eventually("the agent's binding counts", kBound,
                                  [&] { return allowed(agent, {"watch", kOurs, "ipruleconfigs"}); }));
}

}  // namespace
}  // namespace install_test
