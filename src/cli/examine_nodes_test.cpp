#include "cli/examine_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two nodes behind kube-proxy, as their agents report them, and one IPRule.
class ExamineNodes : public testing::Test {
 protected:
  ExamineNodes() {
    for (const auto* name : {"worker-1", "worker-2"}) {
      objects_.wanted.nodes.emplace_back().meta.name = name;
      api::NodeState& report = objects_.reports.emplace_back();
      report.meta.name = name;
      report.status.facts = {.kernel = "6.12",
                             .service_proxy = api::ServiceProxy::nftables,
                             .conntrack = true,
                             .local_rule_priority = 0,
                             .reverse_path_filter = {{.device = "eth1", .value = 2, .tables = {100}}},
                             .capabilities = {.nft_maps = true, .ct_original = true}};
    }
    api::IPRule& rule = objects_.wanted.rules.emplace_back();
    rule.meta.name = "public-eu";
    rule.spec.cidrs = {"203.0.113.0/24"};
    rule.spec.table = 100;
    rule.spec.priority = 1000;
    rule.spec.source.modes = {api::SourceMode::reply};
    api::Service& service = objects_.wanted.services.emplace_back();
    service.is_load_balancer = true;
    service.vips = {net::Address::parse("203.0.113.45").value()};
  }
  Answer answer(const AskNode& ask = {}) {
    auto out = examine_nodes(objects_, {}, ask);
    EXPECT_TRUE(out) << out.error().message();
    return std::move(out).value_or(Answer());
  }
  std::string text() { return answer().page.render({}); }
  api::NodeState::Facts& facts(std::size_t node) { return objects_.reports.at(node).status.facts; }

  ClusterObjects objects_;
};

TEST_F(ExamineNodes, nodes_that_show_the_same_stand_together) {
  EXPECT_THAT(text(), testing::StartsWith("worker-1, worker-2 (2 alike), by what its agent reported\n"));
  EXPECT_THAT(text(), HasSubstr("0 warnings."));
  EXPECT_EQ(answer().code, ExitCode::fine);
}

TEST_F(ExamineNodes, reports_are_held_against_the_IPRules_for_their_nodes) {
  facts(0).reverse_path_filter[0].value = 1;
  EXPECT_THAT(text(), HasSubstr("1 (strict) on eth1: drops what is steered by mark  IPR0310\n"));
  facts(1).local_rule_priority = 2000;
  EXPECT_THAT(text(), HasSubstr("at 2000, behind rules of ours  IPR0313\n"));
  objects_.wanted.rules[0].spec.source.modes = {};
  EXPECT_THAT(text(), HasSubstr("IPRule/public-eu asks for ClusterIP, which no reply bears here  IPR0301\n"));
  EXPECT_THAT(text(), HasSubstr("kubectl patch iprule public-eu"));
  EXPECT_EQ(answer().code, ExitCode::attention);
  objects_.wanted.rules[0].spec.node_selector = {{"site", "eu"}};
  EXPECT_THAT(text(), Not(HasSubstr("IPR03"))) << "it is for no node";
}

TEST_F(ExamineNodes, a_node_whose_agent_never_reported_is_not_said_to_show_anything) {
  facts(1) = {};
  EXPECT_THAT(text(),
              testing::StartsWith("worker-2  no report: run `iprulectl doctor --local` there\nworker-1, by what"));
  EXPECT_EQ(answer().code, ExitCode::attention);
}

TEST_F(ExamineNodes, what_the_kernel_lacks_is_taken_from_the_report) {
  facts(0).capabilities.ct_original = false;
  EXPECT_THAT(text(), HasSubstr("Reply and marks cannot work  IPR0319\n"));
}

TEST_F(ExamineNodes, a_kernel_is_asked_with_what_is_wanted_there) {
  std::vector<NodeWishes> asked;
  (void)answer([&](const std::string&, const Question& question) -> base::Result<Answer> {
    asked.push_back(question.wishes.value());
    return base::fail(base::Fault::denied, "403");
  });
  ASSERT_EQ(asked.size(), 2U);
  ASSERT_EQ(asked[0].rules.size(), 1U);
  EXPECT_EQ(asked[0].rules[0].meta.name, "public-eu");
  ASSERT_EQ(asked[0].frontends.size(), 1U);
  EXPECT_EQ(asked[0].frontends[0].vip.text(), "203.0.113.45");
}

}  // namespace
}  // namespace cli
