#include "controller/report_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/iprule_config.h"
#include "meta/condition.h"

namespace controller {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kAdvice = "another program removes our rules; set ManageForeignRoutingPolicyRules=no";

class ReportNoticesTest : public testing::Test {
 protected:
  ReportNoticesTest() {
    report_.meta = {.name = "worker-3", .uid = "report-uid"};
    report_.status.settled = {{.kind = std::string(api::IPRuleConfig::kKind), .epoch = 412}};
    node_.meta = {.name = "worker-3", .uid = "node-uid"};
  }
  void set(const std::string& type, bool is_true, const std::string& message) {
    meta::set(report_.status.conditions,
              {.type = type,
               .status = is_true ? meta::Truth::yes : meta::Truth::no,
               .reason = is_true ? "Yes" : "No",
               .message = message},
              meta::Time());
  }
  std::vector<kube::Notice> news() {
    const std::vector<const api::NodeState*> reports = {&report_};
    const std::vector<const api::Node*> nodes = {&node_};
    return notices_.news(reports, nodes);
  }
  std::string reasons() {
    std::string out;
    for (const kube::Notice& notice : news()) out += notice.reason + " ";
    return out;
  }

  api::NodeState report_;
  api::Node node_;
  ReportNotices notices_;
};

TEST_F(ReportNoticesTest, D30_repeated_drift_is_a_warning_with_cause_remedy_node_and_epoch) {
  set("Drifting", true, kAdvice);
  const auto told = news();
  ASSERT_EQ(told.size(), 1U);
  const kube::Notice& notice = told.front();
  EXPECT_EQ(notice.reason, "DriftRepeating");
  EXPECT_EQ(notice.type, kube::NoticeType::warning);
  EXPECT_EQ(notice.regarding.kind, "NodeState");
  EXPECT_EQ(notice.regarding.uid, "report-uid");
  ASSERT_TRUE(notice.related);
  EXPECT_EQ(notice.related->kind, "Node");
  EXPECT_EQ(notice.related->uid, "node-uid");
  EXPECT_THAT(notice.note,
              AllOf(StartsWith("worker-3: another program"), HasSubstr("ManageForeignRoutingPolicyRules=no"),
                    HasSubstr("IPR0314"), EndsWith(", epoch 412")));
}

TEST_F(ReportNoticesTest, each_is_told_once_until_it_says_something_else) {
  set("Clashing", true, "a foreign rule at 1000");
  EXPECT_EQ(reasons(), "JobsClash ");
  EXPECT_EQ(reasons(), "") << "it still is as it was told";
  set("Clashing", true, "a foreign rule at 1001");
  EXPECT_EQ(reasons(), "JobsClash ");
  set("Clashing", false, "no clash");
  EXPECT_EQ(reasons(), "");
  set("Clashing", true, "a foreign rule at 1001");
  EXPECT_EQ(reasons(), "JobsClash ") << "it came back";
}

TEST_F(ReportNoticesTest, the_end_of_repeated_drift_is_told) {
  set("Drifting", true, kAdvice);
  (void)news();
  set("Drifting", false, "nobody else keeps changing our rules");
  const auto told = news();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told.front().reason, "DriftRepaired");
  EXPECT_EQ(told.front().type, kube::NoticeType::normal);
  EXPECT_EQ(reasons(), "");
}

TEST_F(ReportNoticesTest, where_all_is_well_nothing_is_told_at_first_sight) {
  set("Drifting", false, "no");
  set("Clashing", false, "no");
  set("ForeignRules", false, "no");
  EXPECT_EQ(reasons(), "");
}

TEST_F(ReportNoticesTest, an_agent_that_is_blind_is_told_and_one_whose_objects_fail_is_told_on_those) {
  const auto synced = [&](const std::string& reason) {
    meta::set(report_.status.conditions,
              {.type = "Synced", .status = meta::Truth::no, .reason = reason, .message = "no NET_ADMIN"}, meta::Time());
  };
  synced("RuleAddFailed");
  EXPECT_EQ(reasons(), "");
  synced("NotPermitted");
  EXPECT_EQ(reasons(), "NotSynced ");
  set("Synced", true, "in sync");
  EXPECT_EQ(reasons(), "");
}

TEST_F(ReportNoticesTest, warnings_are_told_with_what_to_change) {
  set("Warnings", true, "table 254 belongs to the system");
  const auto told = news();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told.front().reason, "NodeWarnings");
  EXPECT_THAT(told.front().note, AllOf(HasSubstr("table 254 belongs to the system"), HasSubstr("change its IPRule")));
  report_.status.conditions.clear();  // An agent with nothing to warn of leaves it out.
  EXPECT_EQ(reasons(), "");
}

// As many rules as an agent names: the note would be longer than an Event may be.
TEST_F(ReportNoticesTest, foreign_rules_are_named_and_the_epoch_still_ends_the_note) {
  std::string rules = "12 rules of others in the scope of the Agent's foreignRules";
  for (int i = 0; i < 10; ++i)
    rules += "; 1000: from 2001:db8:1111:2222:3333:4444:5555:6666 lookup 4294967295 proto 3 ü";
  set("ForeignRules", true, rules);
  const auto told = news();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told.front().reason, "DriftForeign");
  EXPECT_LE(told.front().note.size(), 1024U);
  EXPECT_THAT(told.front().note,
              AllOf(HasSubstr("from 2001:db8:"), HasSubstr("spec.foreignRules"), EndsWith(", epoch 412")));
}

TEST_F(ReportNoticesTest, a_report_that_is_made_anew_is_another) {
  set("Drifting", true, kAdvice);
  (void)news();
  report_.meta.uid = "another";
  EXPECT_EQ(reasons(), "DriftRepeating ");
}

}  // namespace
}  // namespace controller
