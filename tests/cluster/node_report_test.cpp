// What the agent says in its node's report, and when it says nothing.
#include <gmock/gmock.h>

#include "agent_on_node.h"

namespace cluster_test {
namespace {

using testing::HasSubstr;

class NodeReport : public AgentOnNode {};
class NodeReportBehindProxy : public AgentBehindProxy {};

TEST_F(NodeReport, S9_an_object_is_acknowledged_when_its_rule_was_read_back_and_when_it_is_gone) {
  ask_for_report("first");
  start_agent();
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  EXPECT_TRUE(eventually("the object is acknowledged", kBound,
                         [&] { return reported_epoch() >= version_of("iprc-10-96-1-50"); }));
  EXPECT_THAT(rules(), HasSubstr(line("10.96.1.50"))) << "acknowledged means it is there";
  EXPECT_EQ(reported(".token"), "first");
  EXPECT_EQ(reported(".sync"), "InSync");
  EXPECT_EQ(reported(".counts.rules"), "1");

  withdraw("iprc-10-96-1-50");
  EXPECT_TRUE(eventually("the withdrawal is acknowledged", kBound,
                         [&] { return reported_epoch() >= version_of("iprc-10-96-1-50"); }));
  EXPECT_THAT(rules(), testing::Not(HasSubstr("proto 183"))) << "acknowledged means it is gone";
  EXPECT_TRUE(becomes_reported(".holdsNothing", "true"));
}

TEST_F(NodeReport, S19_a_restart_writes_nothing) {
  ask_for_report("quiet");
  start_agent();
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  ASSERT_TRUE(becomes_reported(".counts.rules", "1"));
  ASSERT_TRUE(eventually("acknowledged", kBound, [&] { return reported_epoch() >= version_of("iprc-10-96-1-50"); }));
  const std::string version = field("nodestate", kNode, ".metadata.resourceVersion");

  agent_->kill();
  ip({"rule", "flush", "protocol", "183"});
  start_agent();
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_EQ(field("nodestate", kNode, ".metadata.resourceVersion"), version);
}

TEST_F(NodeReport, S19_L4_what_others_do_again_and_again_is_written_once_a_minute) {
  ask_for_report("quiet");
  start_agent();
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  ASSERT_TRUE(becomes_reported(".counts.rules", "1"));

  ip({"rule", "flush", "protocol", "183"});
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  ASSERT_TRUE(becomes_reported(".drift[0].found", "missing"));
  ASSERT_TRUE(eventually("acknowledged", kBound, [&] { return reported_epoch() >= version_of("iprc-10-96-1-50"); }));
  const std::string version = field("nodestate", kNode, ".metadata.resourceVersion");
  for (int i = 0; i < 3; ++i) {
    ip({"rule", "flush", "protocol", "183"});
    ASSERT_TRUE(rule_appears("10.96.1.50"));
  }
  EXPECT_EQ(field("nodestate", kNode, ".metadata.resourceVersion"), version);
}

TEST_F(NodeReportBehindProxy, S10_a_new_token_is_answered_from_a_new_list) {
  ask_for_report("first");
  start_behind_proxy();
  ASSERT_TRUE(becomes_reported(".token", "first"));
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  ASSERT_TRUE(rule_appears("10.96.1.50")) << "the first list is behind us, and the watch goes";

  proxy_.inject({.resource = "ipruleconfigs"}, testbed::fault::Hold{});
  ask_for_report("second");
  ASSERT_TRUE(eventually("the objects are asked for again", kBound, [&] { return proxy_.faults() == 1; }));
  ip({"rule", "flush", "protocol", "183"});
  ASSERT_TRUE(rule_appears("10.96.1.50")) << "it goes on with what it knows";
  EXPECT_EQ(reported(".token"), "first");
  EXPECT_TRUE(eventually("the new list is answered with", kBound, [&] {
    proxy_.release();
    return reported(".token") == "second";
  }));
}

TEST_F(NodeReport, without_a_report_object_rules_are_kept_and_nothing_is_written) {
  start_agent();
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_EQ(kubectl({"get", "nodestates", "-o", "name"}), "");
  ask_for_report("late");
  EXPECT_TRUE(becomes_reported(".counts.rules", "1"));
}

TEST_F(NodeReport, D50_an_object_that_was_edited_is_listed_as_failed_and_the_others_go_on) {
  ask_for_report("t");
  start_agent();
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  patch("iprc-10-96-1-50", R"({"spec":{"nodeSelector":{"a":"b"}}})");
  EXPECT_TRUE(becomes_reported(".settled[0].failed[0].reason", "HashMismatch"));
  EXPECT_EQ(reported(".settled[0].failed[0].name"), "iprc-10-96-1-50");
  publish(config("iprc-10-96-1-51", "10.96.1.51"));
  EXPECT_TRUE(rule_appears("10.96.1.51"));
}

TEST_F(NodeReport, D6_absent_by_hand_keeps_the_rule_until_the_controller_withdraws_it) {
  ask_for_report("t");
  start_agent();
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  patch("iprc-10-96-1-50", R"({"spec":{"state":"absent"}})");
  ASSERT_TRUE(becomes_reported(".settled[0].failed[0].reason", "HashMismatch"));
  EXPECT_TRUE(rules().contains(line("10.96.1.50")));
  withdraw("iprc-10-96-1-50");
  EXPECT_TRUE(rule_goes("10.96.1.50"));
}

TEST_F(NodeReport, S16_a_mass_removal_is_looked_at_twice_and_then_done) {
  std::vector<api::IPRuleConfig> many;
  for (int i = 0; i < 30; ++i) many.push_back(config(fmt::format("iprc-10-96-2-{}", i), fmt::format("10.96.2.{}", i)));
  publish_all(many);
  ask_for_report("t");
  start_agent();
  ASSERT_TRUE(becomes_reported(".counts.rules", "30"));
  agent_->kill();  // So that it finds all of them gone at once.
  kubectl({"delete", "ipruleconfigs", "--all"});
  start_agent();
  EXPECT_TRUE(eventually("all rules are gone", kBound, [&] { return !rules().contains("proto 183"); }));
  EXPECT_TRUE(becomes_reported(".holdsNothing", "true"));
  EXPECT_THAT(agent_->output(), HasSubstr("listed again first"));
}

TEST_F(NodeReport, rules_of_the_old_project_are_taken_over) {
  ip({"rule", "add", "from", "10.96.1.50", "lookup", "100", "priority", "1000"});
  ip({"rule", "add", "from", "10.96.1.51", "lookup", "100", "priority", "1000"});  // Somebody else's.
  const std::string foreign = "1000:\tfrom 10.96.1.51 lookup 100\n";
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent();
  EXPECT_TRUE(eventually("ours has replaced the old one", kBound, [&] {
    const std::string now = rules();
    return now.contains(line("10.96.1.50") + "\n") && !now.contains("from 10.96.1.50 lookup 100\n");
  }));
  EXPECT_THAT(rules(), HasSubstr(foreign));
}

TEST_F(NodeReport, D30_somebody_who_flushes_again_and_again_is_reported_with_the_likely_cause) {
  ask_for_report("t");
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  start_agent();
  for (int i = 0; i < 7; ++i) {
    ASSERT_TRUE(rule_appears("10.96.1.50"));
    ip({"rule", "flush", "protocol", "183"});
  }
  EXPECT_TRUE(becomes_reported(".conditions[?(@.type==\"Drifting\")].status", "True"));
  EXPECT_THAT(reported(".conditions[?(@.type==\"Drifting\")].message"),
              HasSubstr("ManageForeignRoutingPolicyRules=no"));
  EXPECT_THAT(reported(".drift[0].object"), HasSubstr("from 10.96.1.50 lookup 100"));
  EXPECT_EQ(reported(".drift[0].found"), "missing");
  EXPECT_NE(reported(".drift[0].repaired"), "");
}

TEST_F(NodeReport, D34_without_its_node_object_an_agent_keeps_rules_and_acknowledges_nothing) {
  kubectl({"delete", "node", kNode});
  ask_for_report("t");
  start_agent();
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  EXPECT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_EQ(reported(""), "");
}

}  // namespace
}  // namespace cluster_test
