#include "cli/plan_page.h"

#include <gtest/gtest.h>

#include "plan/diff.h"

namespace cli {
namespace {

state::Rule rule(std::string_view text) {
  return state::parse_rule(net::Family::v4, text).value();
}

TEST(PlanPage, shows_lines_in_order_of_execution_then_what_stands_in_the_way_then_the_sum) {
  const state::Verified observed{.state = {.rules = {rule("1000: from 10.96.23.17 lookup 200 proto static"),
                                                     rule("1000: from 10.96.23.18 lookup 100 proto 183")}}};
  const auto plan = plan::diff(observed, {.rules = {rule("1000: from 10.96.23.17 lookup 100 proto 183")}}, {});
  const Answer answer = show_plan(plan, {.title = "worker-1", .skipped = {"iprc-1: VRFNotFound"}});
  EXPECT_EQ(answer.page.render({}),
            "worker-1\n"
            "  + IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183\n"
            "  - IPv4 rule 1000: from 10.96.23.18 lookup 100 proto 183\n"
            "  ! IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183 stands beside 1000: from 10.96.23.17 lookup 200 "
            "proto static  IPR0105\n"
            "  ! iprc-1: VRFNotFound\n"
            "Plan: 1 to add, 0 to change, 1 to delete; 2 warnings\n");
  EXPECT_EQ(answer.code, ExitCode::attention);
  EXPECT_NE(
      answer.json.find(R"({"do":"add","what":"IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183","class":"rule")"),
      std::string::npos);
}

TEST(PlanPage, findings_stand_with_the_warnings_and_what_is_wrong_asks_for_attention) {
  const Answer answer = show_plan(
      {}, {.title = {},
           .skipped = {},
           .doubt = {},
           .findings = {{.severity = Severity::error, .code = "IPR0201", .object = "IPRule/c", .message = "no prefix"},
                        {.severity = Severity::info, .code = "IPR0402", .object = "IPRule/d", .message = "nothing"}},
           .unknown = {"table 7: nobody has looked"}});
  EXPECT_EQ(answer.page.render({}),
            "  ! IPRule/c: no prefix  IPR0201\n"
            "  i IPRule/d: nothing  IPR0402\n"
            "  ? table 7: nobody has looked\n"
            "Plan: 0 to add, 0 to change, 0 to delete; 1 warning\n");
  EXPECT_EQ(answer.code, ExitCode::attention);
  EXPECT_EQ(sum_in(answer.json).value(), (PlanSum{.warnings = 1}));
  EXPECT_FALSE(sum_in("{}")) << "what has no sum is no plan";
}

TEST(PlanPage, it_is_said_of_a_plan_that_it_spares_what_nodes_send_only_where_that_was_checked) {
  const auto plan = plan::diff(state::Verified(), {.rules = {rule("1000: from 10.96.23.17 lookup 100 proto 183")}}, {});
  const auto told = [&](std::set<net::Address> own) {
    return show_plan(plan, {.title = {}, .skipped = {}, .doubt = {}, .own = std::move(own)}).page.render({});
  };
  EXPECT_NE(told({net::Address::parse("10.0.0.11").value()}).find("  protected  API server"), std::string::npos);
  const std::string met = told({net::Address::parse("10.96.23.17").value()});
  EXPECT_EQ(met.find("protected"), std::string::npos) << met;
  EXPECT_NE(met.find("IPR0501"), std::string::npos) << met;
}

TEST(PlanPage, of_a_diff_only_the_classes_that_are_asked_for_are_told) {
  state::NetState wanted{.rules = {rule("1000: from 10.96.23.17 lookup 100 proto 183")},
                         .nft = state::NftTable{.window = 0x3f00}};
  const state::Verified observed{.state = {.rules = {rule("1000: from 10.96.23.17 lookup 200 proto static")}}};
  const auto plan = plan::diff(observed, wanted, {});
  const auto told = [&](std::vector<std::string> classes) {
    return show_plan(plan, {.title = {}, .kind = "Diff", .skipped = {}, .doubt = {}, .view = {.classes = classes}});
  };
  const Answer rules = told({"rule"});
  EXPECT_NE(rules.page.render({}).find("+ IPv4 rule 1000: "), std::string::npos);
  EXPECT_NE(rules.page.render({}).find("IPR0105"), std::string::npos);
  EXPECT_EQ(rules.page.render({}).find("inet iprule"), std::string::npos);
  EXPECT_EQ(sum_in(rules.json).value(), (PlanSum{.added = 1, .warnings = 1}));
  const Answer nft = told({"nft"});
  EXPECT_NE(nft.page.render({}).find("inet iprule"), std::string::npos) << nft.page.render({});
  EXPECT_EQ(nft.page.render({}).find("rule 1000"), std::string::npos);
  EXPECT_EQ(sum_in(nft.json)->warnings, 0U);
  EXPECT_EQ(told({"rule", "nft"}).json, told({}).json);

  plan::Plan no_marks = plan;
  std::erase_if(no_marks.ops, [](const plan::Op& op) { return std::holds_alternative<plan::ChangeNft>(op); });
  EXPECT_EQ(show_plan(no_marks, {.kind = "Diff", .view = {.classes = {"nft"}}}).code, ExitCode::fine)
      << "what is not asked for does not count";
}

TEST(PlanPage, rules_of_others_are_told_as_left_alone_where_somebody_asks) {
  PlanStory story{.kind = "Diff",
                  .view = {.foreign = true},
                  .foreign = {{.what = "IPv4 rule 1000: from 10.96.23.17 lookup 200 proto static", .beside_ours = true},
                              {.what = "IPv4 rule 70: from all lookup 7"}}};
  const Answer answer = show_plan({}, story);
  EXPECT_EQ(answer.page.render({}),
            "  foreign, left alone: IPv4 rule 1000: from 10.96.23.17 lookup 200 proto static  IPR0105\n"
            "  foreign, left alone: IPv4 rule 70: from all lookup 7\n"
            "Diff: 0 to add, 0 to change, 0 to delete\n");
  EXPECT_EQ(answer.code, ExitCode::fine);
  EXPECT_NE(answer.json.find(R"("foreign":[{"what":"IPv4 rule 1000: from 10.96.23.17 lookup 200 proto static",)"
                             R"("class":"rule","code":"IPR0105"},{"what":"IPv4 rule 70: from all lookup 7",)"),
            std::string::npos)
      << answer.json;
  story.view.classes = {"nft"};
  EXPECT_EQ(show_plan({}, story).page.render({}), "Diff: 0 to add, 0 to change, 0 to delete\n");
  EXPECT_EQ(show_plan({}, {.kind = "Diff", .foreign = story.foreign}).json.find("foreign"), std::string::npos);
}

TEST(PlanPage, nothing_to_do_is_fine) {
  const Answer answer = show_plan({}, {.kind = "Diff"});
  EXPECT_EQ(answer.page.render({}), "Diff: 0 to add, 0 to change, 0 to delete\n");
  EXPECT_EQ(answer.code, ExitCode::fine);
}

TEST(PlanPage, a_kernel_that_was_not_seen_whole_is_not_one_without_differences) {
  const Answer answer = show_plan({}, {.kind = "Diff", .doubt = "nft: EPERM"});
  EXPECT_EQ(answer.page.render({}),
            "Diff: 0 to add, 0 to change, 0 to delete\n"
            "Not seen whole: nft: EPERM; there may be more\n");
  EXPECT_EQ(answer.code, ExitCode::could_not_ask);
}

}  // namespace
}  // namespace cli
