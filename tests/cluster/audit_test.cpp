// What the API server itself has written down about the two accounts, over all that happens to an install: who was let
// do it is another test's question (tests/install); here it is what they did.
#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "at_work.h"
#include "base/file.h"
#include "json/reader.h"

namespace cluster_test {
namespace {

using testing::Contains;
using testing::IsEmpty;

struct Call {
  std::string verb;
  std::string resource;  // "nodestates.api.operator.brtrm.dev/status"
  std::string name;
  std::string uri;
  std::string node;  // That the caller's token is bound to.

  std::string text() const { return verb + " " + resource; }
  bool changes() const { return verb != "get" && verb != "list" && verb != "watch"; }
};

class Audit : public AtWork {
 protected:
  // Calls of an account that the server answered with success, all of this program's time.
  static std::vector<Call> calls_of(const std::string& account) {
    std::istringstream log(base::read_file(install::cluster().audit_log(), std::size_t{1} << 30U).value_or(""));
    const std::string user = fmt::format("system:serviceaccount:{}:{}", kNamespace, account);
    std::vector<Call> out;
    json::Reader reader;
    for (std::string line; std::getline(log, line);) {
      if (!line.contains(user)) continue;
      const auto event = reader.parse(line);
      EXPECT_TRUE(event) << line;
      if (!event || (*event)["user"]["username"].string_or("") != user) continue;
      constexpr int kLeastFailure = 300;
      if ((*event)["responseStatus"]["code"].integer_or<int>(kLeastFailure).value() >= kLeastFailure) continue;
      const auto of = [](const json::Value& value) { return std::string(value.string_or("").value_or("")); };
      const auto object = (*event)["objectRef"];
      const std::string group = of(object["apiGroup"]);
      const std::string part = of(object["subresource"]);
      const auto nodes = (*event)["user"]["extra"]["authentication.kubernetes.io/node-name"].items_or_none();
      out.push_back(
          {.verb = of((*event)["verb"]),
           .resource = of(object["resource"]) + (group.empty() ? "" : "." + group) + (part.empty() ? "" : "/" + part),
           .name = of(object["name"]),
           .uri = of((*event)["requestURI"]),
           .node = nodes && !nodes->empty() ? of(nodes->front()) : ""});
    }
    return out;
  }

  // A life: Services come, change and go, so does what is asked of them; programs are started again.
  void live() {
    Worker& one = add_worker("worker-1");
    Worker& two = add_worker("worker-2");
    put_rule("public-eu", "203.0.113.0/24", 100);
    const std::string first = put_service("first", "203.0.113.1");
    const std::string second = put_service("second", "203.0.113.2");
    for (const Worker& worker : workers_) {
      ASSERT_TRUE(appears(worker, first));
      ASSERT_TRUE(appears(worker, second));
    }
    put_rule("public-eu", "203.0.113.0/24", 101);
    for (const Worker& worker : workers_) ASSERT_TRUE(appears(worker, first, 101));
    stop_agent(one);
    start_agent(one);
    two.agent->kill();
    delete_service("second");
    start_agent(two);
    for (const Worker& worker : workers_) ASSERT_TRUE(goes(worker, second));
    controller_->process.kill();
    start_controller();
    put_rule("public-eu", "203.0.113.0/24", 101, ", source: {modes: [Endpoints]}");
    for (const Worker& worker : workers_) ASSERT_TRUE(goes(worker, first));
    kubectl({"delete", "iprule", "public-eu"});
    ASSERT_TRUE(eventually("nothing is published", kBound, [&] { return published().empty(); }));
  }
};

// They keep to it by themselves: nothing stands in their way here.
TEST_F(Audit, J8_S13_S21_without_the_policies_too_each_account_writes_what_is_its_own_and_nothing_else) {
  kubectl({"delete", "validatingadmissionpolicies", "--all"});
  live();
  install::apply();
  const std::string ours = ".api.operator.brtrm.dev";
  std::set<std::string> wrote;
  std::set<std::string> strange;
  for (const Call& call : calls_of("iprule-agent")) {
    if (!call.changes() || call.resource.starts_with("selfsubjectreviews")) continue;  // That one is a question.
    wrote.insert(call.text());
    const bool is_own = call.text() == "patch nodestates" + ours + "/status" && call.name == call.node;
    if (!is_own || call.node.empty()) strange.insert(call.text() + " " + call.name + " by " + call.node);
  }
  EXPECT_THAT(wrote, Contains("patch nodestates" + ours + "/status"));
  EXPECT_THAT(strange, IsEmpty());

  const std::map<std::string, std::set<std::string>> may{
      {"ipruleconfigs" + ours, {"create", "update", "patch", "delete"}},
      {"ipruleconfigs" + ours + "/status", {"update", "patch"}},
      {"nodestates" + ours, {"create", "update", "patch", "delete"}},
      {"iprules" + ours + "/status", {"update", "patch"}},
      {"agents" + ours + "/status", {"update", "patch"}},
      {"daemonsets.apps", {"create", "update", "patch", "delete"}},
      {"events", {"create", "patch"}},
      {"events.events.k8s.io", {"create", "patch"}},
      {"leases.coordination.k8s.io", {"create", "update", "patch"}},
  };
  wrote.clear();
  strange.clear();
  for (const Call& call : calls_of(install::kManager)) {
    if (!call.changes()) continue;
    wrote.insert(call.text());
    const auto found = may.find(call.resource);
    const bool is_named = call.resource != "daemonsets.apps" || call.name == "iprule-agent";
    if (found == may.end() || !found->second.contains(call.verb) || !is_named) {
      strange.insert(call.text() + " " + call.name);
    }
  }
  for (const char* written :
       {"create ipruleconfigs", "update ipruleconfigs", "delete ipruleconfigs", "create nodestates"}) {
    EXPECT_THAT(wrote, Contains(written + ours));
  }
  EXPECT_THAT(strange, IsEmpty());
}

// A role cannot say so: agents ask for one Node and one report, their own.
TEST_F(Audit, an_agent_asks_for_no_other_node) {
  Worker& worker = add_worker("worker-1");
  put_rule("public-eu", "203.0.113.0/24", 100);
  ASSERT_TRUE(appears(worker, put_service("first", "203.0.113.1")));
  std::set<std::string> read;
  for (const Call& call : calls_of("iprule-agent")) {
    if (call.changes()) continue;
    const bool by_name = call.name == call.node || call.uri.contains("fieldSelector=metadata.name%3D" + call.node);
    if (call.resource == "nodes" || call.resource.starts_with("nodestates")) {
      EXPECT_TRUE(by_name) << call.text() << " " << call.uri;
    }
    read.insert(call.resource);
  }
  EXPECT_THAT(read, Contains("nodes"));
}

}  // namespace
}  // namespace cluster_test
