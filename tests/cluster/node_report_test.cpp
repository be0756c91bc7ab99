// What the agent says in its node's report, and when it says nothing.
#include <gmock/gmock.h>

#include "agent_on_node.h"

namespace cluster_test {
namespace {

using testing::HasSubstr;

class NodeReport : public AgentOnNode {};

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

TEST_F(NodeReport, S19_repairs_and_restarts_write_nothing) {
  ask_for_report("quiet");
  start_agent();
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  ASSERT_TRUE(becomes_reported(".counts.rules", "1"));
  ASSERT_TRUE(eventually("acknowledged", kBound, [&] { return reported_epoch() >= version_of("iprc-10-96-1-50"); }));
  const std::string version = field("nodestate", kNode, ".metadata.resourceVersion");

  ip({"rule", "flush", "protocol", "183"});
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  agent_->kill();
  ip({"rule", "flush", "protocol", "183"});
  start_agent();
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_EQ(field("nodestate", kNode, ".metadata.resourceVersion"), version);
}

TEST_F(NodeReport, S10_a_new_token_is_answered_from_a_new_list) {
  ask_for_report("first");
  start_agent();
  ASSERT_TRUE(becomes_reported(".token", "first"));
  ask_for_report("second");
  EXPECT_TRUE(becomes_reported(".token", "second"));
}

TEST_F(NodeReport, without_a_report_object_rules_are_kept_and_nothing_is_written) {
  start_agent();
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  ASSERT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_EQ(kubectl({"get", "nodestates", "-o", "name"}), "");
  ask_for_report("late");
  EXPECT_TRUE(becomes_reported(".counts.rules", "1"));
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
