#include <gmock/gmock.h>

#include "agent_on_node.h"

namespace cluster_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// What the agent makes of objects that need marks, and what it says of them.
class AgentSteering : public AgentOnNode {
 protected:
  std::string nft(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "nft");
    const auto done = testbed::run({.arguments = std::move(arguments), .network = node_->network()}, 10s);
    EXPECT_TRUE(done);
    return done ? done->output : "";
  }
  std::string table() { return nft({"list", "table", "inet", "iprule"}); }  // Empty where there is none.

  testing::AssertionResult table_has(const std::string& text) {
    return eventually("the table has " + text, kBound, [&] { return table().contains(text); });
  }

  api::IPRuleConfig reply(const std::string& name, const std::string& vip) {
    auto out = config(name, vip, 0);
    out.spec.route_table = 100;
    out.spec.source_mode = api::SourceMode::reply;
    return out;
  }
  api::IPRuleConfig many(const std::string& name, int count) {
    auto out = config(name, "10.96.0.1", 0);
    out.spec.route_table = 100;
    out.spec.source_mode = api::SourceMode::endpoints;
    for (int i = 0; i < count; ++i) {
      out.spec.source_ips.push_back({.address = fmt::format("10.244.{}.{}", i / 200, i % 200 + 2)});
    }
    return out;
  }
};

TEST_F(AgentSteering, a_reply_is_marked_except_towards_the_cluster_and_reported_when_read_back) {
  apply(
      fmt::format("apiVersion: {}\nkind: NodeState\nmetadata: {{name: {}}}\n"
                  "spec: {{token: t, clusterPrefixes: [10.244.0.0/16]}}\n",
                  api::kApiVersion, kNode));
  publish(reply("iprc-re-203-0-113-45", "203.0.113.45"));
  start_agent();
  ASSERT_TRUE(table_has("203.0.113.45 : goto reply01"));
  EXPECT_THAT(table(), HasSubstr("10.244.0.0/16"));
  EXPECT_THAT(rules(), HasSubstr("1000:\tfrom all fwmark 0x100/0x3f00 lookup 100 proto 183"));
  EXPECT_THAT(rules(), HasSubstr("999:\tfrom all fwmark 0x100/0x3f00 lookup main suppress_prefixlength 0 proto 183"));
  EXPECT_TRUE(becomes_reported(".sync", "InSync"));
  EXPECT_TRUE(becomes_reported(".facts.serviceProxy", "none"));
  EXPECT_TRUE(becomes_reported(".emptyTables[0].table", "100"));

  withdraw("iprc-re-203-0-113-45");
  EXPECT_TRUE(eventually("the table is gone", kBound, [&] { return table().empty(); }));
  EXPECT_THAT(rules(), Not(HasSubstr("fwmark")));
}

// It goes with a Node that is made anew, and is made anew by a controller that may be away.
TEST_F(AgentSteering, a_nodestate_that_is_gone_takes_no_prefix_of_the_cluster_along) {
  apply(
      fmt::format("apiVersion: {}\nkind: NodeState\nmetadata: {{name: {}}}\n"
                  "spec: {{token: t, clusterPrefixes: [10.244.0.0/16]}}\n",
                  api::kApiVersion, kNode));
  publish(reply("iprc-re-203-0-113-45", "203.0.113.45"));
  start_agent();
  ASSERT_TRUE(table_has("203.0.113.45 : goto reply01"));
  kubectl({"delete", "nodestates", kNode});
  publish(reply("iprc-re-203-0-113-46", "203.0.113.46"));
  ASSERT_TRUE(table_has("203.0.113.46 : goto reply01"));
  EXPECT_THAT(table(), HasSubstr("10.244.0.0/16"));
}

TEST_F(AgentSteering, a_foreign_flush_of_the_ruleset_is_undone_and_a_restart_changes_nothing) {
  publish(reply("iprc-re-203-0-113-45", "203.0.113.45"));
  start_agent();
  ASSERT_TRUE(table_has("203.0.113.45 : goto reply01"));
  nft({"flush", "ruleset"});
  ASSERT_TRUE(table_has("203.0.113.45 : goto reply01"));
  const std::string before = nft({"--handle", "list", "table", "inet", "iprule"}) + rules();
  agent_->kill();
  start_agent();
  publish(config("iprc-10-96-0-9", "10.96.0.9"));  // So that there is something to wait for.
  ASSERT_TRUE(rule_appears("10.96.0.9"));
  withdraw("iprc-10-96-0-9");
  ASSERT_TRUE(rule_goes("10.96.0.9"));
  EXPECT_EQ(nft({"--handle", "list", "table", "inet", "iprule"}) + rules(), before);
}

TEST_F(AgentSteering, many_sources_turn_to_marks_and_the_report_says_so) {
  ask_for_report("t");
  publish(many("iprc-many", 300));
  start_agent();
  ASSERT_TRUE(table_has("10.244.1.101 : goto source01"));
  EXPECT_TRUE(becomes_reported(".dataplane", "marks"));
  EXPECT_TRUE(becomes_reported(".counts.sources", "300"));
  EXPECT_THAT(rules(), Not(HasSubstr("from 10.244.")));
}

TEST_F(AgentSteering, IPR0501_an_address_of_the_node_is_refused_and_its_siblings_go_on) {
  ask_for_report("t");
  auto object = many("iprc-own", 1);
  object.spec.source_ips.push_back({.address = "172.30.77.21"});  // The node's own, by its kernel.
  object.spec.source_ips.push_back({.address = "169.254.169.254"});
  object.spec.source_ips.push_back({.address = "172.30.77.200"});
  ip({"route", "add", "default", "via", "172.30.77.200"});
  publish(object);
  start_agent();
  ASSERT_TRUE(rule_appears("10.244.0.2"));
  EXPECT_TRUE(becomes_reported(".settled[0].failed[0].reason", "ProtectedSource"));
  for (const char* address : {"172.30.77.21", "169.254.169.254", "172.30.77.200"}) {
    EXPECT_THAT(rules(), Not(HasSubstr(address)));
    EXPECT_THAT(reported(".settled[0].failed[0].message"), HasSubstr(address));
  }
}

}  // namespace
}  // namespace cluster_test
