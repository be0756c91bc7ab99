#include "controller/notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intent/cluster/small_cluster.h"

namespace controller {
namespace {

using intent::ServiceFinding;
using kube::NoticeType;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

// Every note names the next thing to do: a command, or what to change, or where to look.
bool names_next_step(const std::string& note) {
  for (const char* word : {"kubectl ", "iprulectl ", "use ", "set ", "give ", "make it ", "change ", "look at ",
                           "Look at ", "compare ", "delete ", "see "}) {
    if (note.contains(word)) return true;
  }
  return false;
}

// A small cluster whose passes are told as the controller tells them.
class NoticesTest : public testing::Test {
 protected:
  // What one pass tells, all of it checked against the law above.
  std::vector<kube::Notice> pass() {
    std::vector<kube::Notice> out;
    const auto before = cluster_.server.configs;
    cluster_.clock += std::chrono::seconds(10);
    const intent::Decision decision = cluster_.decide();
    for (const auto& write : decision.configs) {
      const auto given_up = decision.given_up.find(write.object.meta.name);
      const auto missing = given_up != decision.given_up.end() ? given_up->second : std::vector<std::string>();
      if (auto notice = notice_of(write, missing)) out.push_back(*std::move(notice));
    }
    for (const auto& write : decision.config_statuses) {
      for (auto& notice : notices_of(write, before.at(write.object.meta.name).status)) out.push_back(std::move(notice));
    }
    for (const auto& write : decision.rule_statuses) {
      for (auto& notice : notices_of(write, 1000)) out.push_back(std::move(notice));
    }
    for (const auto& finding : decision.desired.findings) out.push_back(notice_of(finding));
    for (const auto& write : decision.states) EXPECT_TRUE(cluster_.server.apply(write));
    for (const auto& write : decision.configs) EXPECT_TRUE(cluster_.server.apply(write));
    for (const auto& write : decision.config_statuses) EXPECT_TRUE(cluster_.server.apply(write));
    for (const auto& write : decision.rule_statuses) {
      cluster_.wishes.rule_named(write.object.meta.name) = write.object;
    }
    for (const auto& notice : out) EXPECT_TRUE(names_next_step(notice.note)) << notice.reason << ": " << notice.note;
    return out;
  }
  // Of several passes, the one notice with this reason.
  kube::Notice told(const std::string& reason, int passes = 3) {
    for (int i = 0; i < passes; ++i) {
      for (const auto& notice : pass()) {
        if (notice.reason == reason) return notice;
      }
    }
    ADD_FAILURE() << reason << " was not told";
    return {};
  }
  // One node that holds one object.
  void settle() {
    cluster_.add_node("n1");
    cluster_.wishes.rule("blue", {"203.0.113.0/24"}, 120, 1500);
    cluster_.wishes.service("web", {"10.96.0.7"}, {"203.0.113.5"});
    (void)pass();
    cluster_.settle_all();
  }
  std::string uid_of_config() { return cluster_.server.configs.begin()->second.meta.uid; }

  intent::SmallCluster cluster_;
};

TEST_F(NoticesTest, RuleProgrammed) {
  settle();
  const auto notice = told("RuleProgrammed");
  EXPECT_EQ(notice.type, NoticeType::normal);
  EXPECT_EQ(notice.regarding.kind, "Service");
  EXPECT_EQ(notice.regarding.ns, "shop");
  EXPECT_THAT(notice.note,
              AllOf(HasSubstr("replies with source 10.96.0.7 (ClusterIP) go to table 120 at priority 1500"),
                    HasSubstr("in force on 1 node"), HasSubstr("iprulectl explain svc/web -n shop"),
                    testing::ContainsRegex(", epoch [0-9]+$")));
  EXPECT_THAT(pass(), SizeIs(0)) << "told once";
}

TEST_F(NoticesTest, NoClusterIP) {
  cluster_.wishes.rule("blue", {"203.0.113.0/24"}, 120);
  cluster_.wishes.service("web", {}, {"203.0.113.5"});
  const auto notice = told("NoClusterIP");
  EXPECT_EQ(notice.type, NoticeType::warning);
  EXPECT_THAT(notice.note, AllOf(HasSubstr("use the source mode Reply"), EndsWith("(IPR0204)")));
}

TEST_F(NoticesTest, HostnameOnlyIngress) {
  cluster_.wishes.rule("blue", {"203.0.113.0/24"}, 120);
  cluster_.wishes.service("web", {"10.96.0.7"}, {}).hostnames = 1;
  EXPECT_THAT(told("HostnameOnlyIngress").note, AllOf(HasSubstr("ingress[].ip"), EndsWith("(IPR0203)")));
}

TEST_F(NoticesTest, FamilyMismatch) {
  cluster_.wishes.rule("blue", {"2001:db8::/32"}, 120);
  cluster_.wishes.service("web", {"10.96.0.7"}, {"2001:db8::5"});
  EXPECT_THAT(told("FamilyMismatch").note, AllOf(HasSubstr("make it dual-stack"), EndsWith("(IPR0204)")));
}

TEST_F(NoticesTest, PriorityConflict) {
  cluster_.wishes.rule("blue", {"203.0.113.0/24"}, 120);
  cluster_.wishes.rule("green", {"198.51.100.0/24"}, 121);
  cluster_.wishes.service("web", {"10.96.0.7"}, {"203.0.113.5", "198.51.100.5"});
  const auto notice = told("PriorityConflict");
  EXPECT_EQ(notice.regarding.kind, "Service");
  EXPECT_THAT(notice.note, AllOf(HasSubstr("give one of them another priority"), EndsWith("(IPR0101)")));
}

TEST_F(NoticesTest, ProxiedAddress) {
  cluster_.wishes.rule("blue", {"203.0.113.0/24"}, 120).spec.source.modes = {api::SourceMode::reply};
  auto& service = cluster_.wishes.service("web", {"10.96.0.7"}, {"203.0.113.5"});
  service.proxied_vips = service.vips;
  EXPECT_THAT(told("ProxiedAddress").note, AllOf(HasSubstr("source mode Endpoints"), EndsWith("(IPR0206)")));
}

TEST_F(NoticesTest, InvalidSpec) {
  cluster_.wishes.rule("typo", {"192.168.1.300/24"}, 120);
  const auto notice = told("InvalidSpec");
  EXPECT_EQ(notice.type, NoticeType::warning);
  EXPECT_EQ(notice.regarding.kind, "IPRule");
  EXPECT_THAT(notice.note,
              AllOf(HasSubstr("spec.cidrs[0]"), HasSubstr("kubectl edit iprule typo"), HasSubstr("IPR0201")));
}

TEST_F(NoticesTest, NoMatch) {
  cluster_.wishes.rule("blue", {"203.0.113.0/24"}, 120);
  cluster_.wishes.service("web", {"10.96.0.7"}, {"192.0.2.5"});
  const auto notice = told("NoMatch");
  EXPECT_EQ(notice.type, NoticeType::normal);
  EXPECT_THAT(notice.note,
              AllOf(HasSubstr("nearest 192.0.2.5"), HasSubstr("kubectl get services -A"), EndsWith("(IPR0402)")));
}

TEST_F(NoticesTest, PriorityAfterMain) {
  cluster_.wishes.rule("late", {"203.0.113.0/24"}, 120, 32766).meta.generation = 1;
  EXPECT_THAT(told("PriorityAfterMain").note,
              AllOf(HasSubstr("set spec.priority to 32765 or less"), EndsWith("(IPR0404)")));
}

TEST_F(NoticesTest, ReservedTable) {
  cluster_.wishes.rule("main", {"203.0.113.0/24"}, 254).meta.generation = 1;
  EXPECT_THAT(told("ReservedTable").note, HasSubstr("use a table of its own"));
}

TEST_F(NoticesTest, SourceModeHint) {
  settle();
  cluster_.server.states.at("n1").status.facts.service_proxy = api::ServiceProxy::nftables;
  const auto notice = told("SourceModeHint");
  EXPECT_EQ(notice.type, NoticeType::warning);
  EXPECT_THAT(notice.note, AllOf(HasSubstr("kubectl patch iprule blue"), HasSubstr("IPR0301")));
}

TEST_F(NoticesTest, MarkedAbsent) {
  settle();
  (void)pass();
  cluster_.wishes.forget_services();
  const auto notice = told("MarkedAbsent");
  EXPECT_EQ(notice.type, NoticeType::normal);
  EXPECT_EQ(notice.regarding.kind, "IPRuleConfig");
  EXPECT_THAT(notice.note, AllOf(HasSubstr("no Service and IPRule ask for 10.96.0.7 any more: nodes remove"),
                                 HasSubstr("kubectl get nodestates")));
}

TEST_F(NoticesTest, MarkedAbsent_of_what_is_replaced_says_what_goes_and_that_another_object_steers_its_source) {
  settle();
  (void)pass();
  cluster_.wishes.rule_named("blue").spec.table = 121;
  const auto notice = told("MarkedAbsent");
  EXPECT_EQ(notice.type, NoticeType::normal);
  EXPECT_THAT(
      notice.note,
      AllOf(HasSubstr(
                "10.96.0.7 to table 120 at priority 1500 is no longer asked for; another object steers that source"),
            Not(HasSubstr("no Service and IPRule")), HasSubstr("kubectl get nodestates")));
}

// The other one was there before and stays as it is: it has taken nobody's place.
TEST_F(NoticesTest, D1_MarkedAbsent_of_one_of_two_IPRules_for_a_source_does_not_speak_of_a_new_object) {
  settle();
  cluster_.wishes.rule("green", {"198.51.100.0/24"}, 121, 1400);
  cluster_.wishes.forget_services();
  cluster_.wishes.service("web", {"10.96.0.7"}, {"203.0.113.5", "198.51.100.5"});
  (void)pass();
  cluster_.settle_all();
  (void)pass();
  ASSERT_EQ(cluster_.server.configs.size(), 2U);
  cluster_.wishes.forget_rule("green");
  const auto notice = told("MarkedAbsent");
  EXPECT_EQ(notice.type, NoticeType::normal);
  EXPECT_THAT(
      notice.note,
      AllOf(HasSubstr(
                "10.96.0.7 to table 121 at priority 1400 is no longer asked for; another object steers that source"),
            Not(HasSubstr("place"))));
}

TEST_F(NoticesTest, CleanupTimeout) {
  settle();
  (void)pass();
  cluster_.wishes.forget_services();
  (void)pass();
  cluster_.clock += std::chrono::hours(24);
  const auto notice = told("CleanupTimeout", 100);
  EXPECT_EQ(notice.type, NoticeType::warning);
  EXPECT_THAT(notice.note,
              AllOf(HasSubstr("not waited for any longer: n1"), HasSubstr("look at the agent's pod there")));
}

TEST_F(NoticesTest, RuleAddFailed) {
  settle();
  cluster_.settle("n1", {{.uid = uid_of_config(), .reason = "TooManyRules", .message = "4097 rules"}});
  const auto notice = told("RuleAddFailed");
  EXPECT_EQ(notice.type, NoticeType::warning);
  EXPECT_EQ(notice.regarding.kind, "IPRuleConfig");
  ASSERT_TRUE(notice.related);
  EXPECT_EQ(notice.related->name, "n1");
  EXPECT_THAT(notice.note, AllOf(HasSubstr("n1 (TooManyRules: 4097 rules)"), HasSubstr("kubectl get nodestate n1"),
                                 HasSubstr("IPR0320"), testing::ContainsRegex(", epoch [0-9]+$")));
}

TEST_F(NoticesTest, RuleDeleteFailed) {
  settle();
  (void)pass();
  cluster_.wishes.forget_services();
  (void)pass();
  cluster_.settle("n1", {{.uid = uid_of_config(), .reason = "RuleDeleteFailed", .message = "EPERM"}});
  const auto notice = told("RuleDeleteFailed");
  EXPECT_EQ(notice.type, NoticeType::warning);
  EXPECT_THAT(notice.note, AllOf(HasSubstr("n1 (RuleDeleteFailed: EPERM)"), HasSubstr("Look at the agents there")));
}

TEST_F(NoticesTest, DriftRepaired) {
  settle();
  (void)pass();
  auto& config = cluster_.server.configs.begin()->second;
  config.spec.state = api::ConfigState::absent;
  ++config.meta.generation;
  const auto notice = told("DriftRepaired");
  EXPECT_EQ(notice.type, NoticeType::normal);
  EXPECT_THAT(notice.note, HasSubstr("change the IPRule that owns it"));
}

TEST(Blindness, an_object_that_cannot_be_read_hears_what_follows_from_it) {
  const auto notice =
      notice_of_unreadable({.api_version = "v1", .kind = "Service", .ns = "", .name = "", .uid = ""},
                           {.ns = "shop", .name = "web"}, {.uid = "u", .why = "spec.type: not a string"});
  EXPECT_EQ(notice.reason, "Unreadable");
  EXPECT_EQ(notice.type, NoticeType::warning);
  EXPECT_EQ(notice.regarding.ns, "shop");
  EXPECT_EQ(notice.regarding.name, "web");
  EXPECT_EQ(notice.regarding.uid, "u");
  EXPECT_THAT(notice.note, AllOf(HasSubstr("spec.type: not a string"), HasSubstr("no rule of any IPRule is withdrawn"),
                                 EndsWith("correct it, or delete it")));
}

TEST(Blindness, a_right_that_was_taken_away_is_told_on_the_agent) {
  api::Agent agent;
  agent.meta.ns = "operator";
  agent.meta.name = "agent";
  const auto notice = notice_of_denied(
      agent, {.resource = "services", .is_denied = true, .trouble = "services: nothing new comes: 403 Forbidden"});
  EXPECT_EQ(notice.reason, "NoAccess");
  EXPECT_EQ(notice.regarding.kind, "Agent");
  EXPECT_EQ(notice.regarding.ns, "operator");
  EXPECT_THAT(notice.note,
              AllOf(HasSubstr("services: nothing new comes: 403"), HasSubstr("apply the install manifests")));
}

}  // namespace
}  // namespace controller
