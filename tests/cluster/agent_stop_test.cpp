// When an agent's rules stay after it, and when they go.
#include <csignal>

#include <gmock/gmock.h>

#include "agent_on_node.h"

namespace cluster_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class AgentStop : public AgentBehindProxy {
 protected:
  void SetUp() override {
    AgentOnNode::SetUp();
    ip({"rule", "add", "from", "10.9.9.9", "lookup", "100", "priority", "1000"});  // Somebody else's.
    before_ = rules();
    ask_for_report("t");
    select("zone: a");
    publish(config("iprc-10-96-1-50", "10.96.1.50"));
    start_behind_proxy();
    ASSERT_TRUE(rule_appears("10.96.1.50"));
    ASSERT_TRUE(becomes_reported(".counts.rules", "1"));
  }

  void select(const std::string& labels) {
    apply(
        fmt::format("apiVersion: {}\nkind: Agent\nmetadata: {{name: agent, namespace: default}}\n"
                    "spec: {{nodeSelector: {{{}}}}}\n",
                    api::kApiVersion, labels));
  }

  void stop() {
    agent_->signal(SIGTERM);
    const auto ended = agent_->wait_exit(kBound);
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_TRUE(ended->ok()) << ended->text();
  }

  std::string before_;
};

TEST_F(AgentStop, S24_a_stop_alone_changes_nothing) {
  const std::string during = rules();
  stop();
  EXPECT_EQ(rules(), during);
  EXPECT_EQ(reported(".holdsNothing"), "");
}

TEST_F(AgentStop, D22_without_an_agent_the_rules_go_and_the_report_says_so) {
  kubectl({"delete", "agents", "agent"});
  stop();
  EXPECT_EQ(rules(), before_) << "the foreign rule included";
  EXPECT_EQ(reported(".holdsNothing"), "true");
}

TEST_F(AgentStop, D22_an_agent_that_has_only_just_started_first_hears_who_it_is) {
  agent_->kill();
  kubectl({"delete", "agents", "agent"});
  const testbed::CallMatch questions{.verb = "create", .resource = "selfsubjectreviews"};
  const int before = proxy_.calls(questions);
  proxy_.inject(questions, testbed::fault::Delay{2s});
  start_behind_proxy();
  ASSERT_TRUE(eventually("it has asked", kBound, [&] { return proxy_.calls(questions) > before; }));
  stop();
  EXPECT_EQ(rules(), before_);
}

TEST_F(AgentStop, D21_a_node_that_is_no_longer_selected_is_cleaned) {
  select("zone: b");
  stop();
  EXPECT_EQ(rules(), before_);
}

// Where the operator lives only the controller knows: it tells the Agents that do not count, and then ends their pods.
TEST_F(AgentStop, D42_of_two_agents_the_one_that_counts_says_whose_rules_stay) {
  apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: operator}\n");
  apply(
      fmt::format("apiVersion: {}\nkind: Agent\nmetadata: {{name: agent, namespace: operator}}\n"
                  "spec: {{nodeSelector: {{zone: b}}}}\n",
                  api::kApiVersion));
  kubectl({"patch", "agents", "agent", "--subresource=status", "--type=merge", "-p",
           R"({"status":{"conditions":[{"type":"Ready","status":"False","reason":"InactiveInstance",)"
           R"("message":"operator/agent counts","lastTransitionTime":"2026-01-31T10:00:00Z"}]}})"});
  stop();
  EXPECT_EQ(rules(), before_);
}

TEST_F(AgentStop, S24_without_an_answer_everything_stays) {
  cluster_.api_server().freeze();
  stop();
  cluster_.api_server().thaw();
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.50")));
}

// It knows of nobody's rights yet, and not of all kinds.
TEST_F(AgentStop, S24_a_server_that_is_starting_gives_no_order) {
  proxy_.inject({.verb = "list", .resource = "agents"}, testbed::fault::Answer{.status = 403, .body = "no"});
  proxy_.inject({.verb = "GET"},
                testbed::fault::Answer{.status = 200, .body = R"({"kind":"APIGroupDiscoveryList","items":[]})"});
  proxy_.inject({.verb = "GET"}, testbed::fault::Answer{.status = 500, .body = "not ready"},
                {.count = testbed::FaultProxy::kAlways});
  stop();
  EXPECT_GE(proxy_.calls({.verb = "GET"}), 2) << "it has asked both";
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.50")));
}

// From a server that is not one, or a proxy that has kept an old answer.
TEST_F(AgentStop, S24_what_is_no_list_of_agents_or_an_old_one_is_no_order) {
  const testbed::CallMatch lists{.verb = "list", .resource = "agents"};
  for (const char* body : {R"({"kind":"Status","metadata":{},"status":"Success"})",
                           R"({"kind":"AgentList","metadata":{"resourceVersion":"1"},"items":[]})"}) {
    proxy_.inject(lists, testbed::fault::Answer{.status = 200, .body = body});
    const int before = proxy_.faults();
    stop();
    EXPECT_EQ(proxy_.faults(), before + 1) << "it has asked";
    EXPECT_THAT(rules(), HasSubstr(line("10.96.1.50"))) << body;
    start_behind_proxy();
    ASSERT_TRUE(answers("/ready", "200 OK"));
  }
}

// As it may be in an upgrade that replaces the Agent by one of a later version.
TEST_F(AgentStop, S24_an_agent_that_cannot_be_read_is_there) {
  const std::string enumeration = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/dataplane/enum";
  kubectl({"patch", "crd", "agents.api.operator.brtrm.dev", "--type=json", "-p",
           fmt::format(R"([{{"op":"add","path":"{}/-","value":"future"}}])", enumeration)});
  kubectl({"delete", "agents", "agent"});
  ASSERT_TRUE(eventually("the server takes it", kBound, [&] {
    return cluster_
        .kubectl({"create", "-f", "-"},
                 fmt::format("apiVersion: {}\nkind: Agent\nmetadata: {{name: agent, namespace: default}}\n"
                             "spec: {{dataplane: future, nodeSelector: {{zone: a}}}}\n",
                             api::kApiVersion))
        .has_value();
  }));
  stop();
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.50")));
  kubectl({"delete", "agents", "agent"});
  kubectl({"apply", "-k", std::string(IPRULE_SOURCE_DIR) + "/config/crd"});
}

TEST_F(AgentStop, S24_rights_taken_away_are_no_order) {
  kubectl({"delete", "clusterrolebinding", "edge-agent"});
  agent_->signal(SIGTERM);
  ASSERT_TRUE(agent_->wait_exit(kBound));
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.50")));
  kubectl({"create", "clusterrolebinding", "edge-agent", "--clusterrole=agent-role",
           "--serviceaccount=default:edge-agent"});
}

// As `kubectl delete -f` of a whole install does it: the agent's rights go, then the Agent. Its watch is late, so that
// its own question is refused first.
TEST_F(AgentStop, S24_L10_rights_that_go_together_with_the_agent_do_not_keep_the_rules) {
  const testbed::CallMatch watches{.verb = "watch", .resource = "agents"};
  const int before = proxy_.calls(watches);
  proxy_.inject(watches, testbed::fault::Lag{2s});
  proxy_.cut_all();
  ASSERT_TRUE(eventually("watched anew", kBound, [&] { return proxy_.calls(watches) > before; }));
  kubectl({"delete", "clusterrolebinding", "edge-agent"});
  kubectl({"delete", "agents", "agent"});
  agent_->signal(SIGTERM);
  ASSERT_TRUE(agent_->wait_exit(kBound));
  EXPECT_EQ(rules(), before_);
  kubectl({"create", "clusterrolebinding", "edge-agent", "--clusterrole=agent-role",
           "--serviceaccount=default:edge-agent"});
}

class VanishedObject : public AgentOnNode {};

TEST_F(VanishedObject, D5_made_anew_it_leaves_no_gap_and_gone_for_good_its_rule_goes) {
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent();
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  auto monitor = node_->start({.arguments = {"ip", "monitor", "rule"}});
  ASSERT_TRUE(monitor) << monitor.error().message();

  kubectl({"replace", "--force", "-f", "-"}, [&] {
    auto object = config("iprc-10-96-1-50", "10.96.1.50");
    object.meta.annotations.set(api::kSpecHash, api::spec_hash(object.spec));
    return api::encode(object);
  }());
  publish(config("iprc-10-96-1-51", "10.96.1.51"));
  ASSERT_TRUE(rule_appears("10.96.1.51")) << "the agent has seen all of that";
  EXPECT_THAT((*monitor)->output(), Not(HasSubstr("Deleted")));

  kubectl({"delete", "ipruleconfig", "iprc-10-96-1-50"});
  EXPECT_TRUE(rule_goes("10.96.1.50"));
}

}  // namespace
}  // namespace cluster_test
