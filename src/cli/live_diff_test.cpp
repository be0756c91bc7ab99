// What diff and drift make of nodes whose kernels answer, and of those whose kernels do not.
#include "cli/live_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/assignment.h"
#include "cli/drift.h"
#include "cli/node_report.h"
#include "cli/plan_page.h"

namespace cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr meta::Time kNow{std::chrono::seconds(1'800'000'000)};

ClusterObjects two_nodes() {
  ClusterObjects objects;
  for (const char* name : {"worker-1", "worker-2"}) {
    objects.wanted.nodes.emplace_back().meta.name = name;
    objects.reports.emplace_back().meta.name = name;
  }
  api::IPRuleConfig& config = objects.configs.emplace_back();
  config.meta.name = "iprc-1";
  config.meta.labels = {{std::string(api::kManagedByLabel), std::string(api::kManagedByValue)}};
  config.spec.service_ip = "10.96.23.17";
  objects.configs.emplace_back().meta.name = "not-ours";
  return objects;
}

Answer diff_of(const std::string& node, bool lacks_a_rule) {
  plan::Plan plan;
  if (lacks_a_rule) {
    state::Rule rule;
    rule.priority = 1000;
    rule.table = 100;
    rule.protocol = 183;
    plan.ops.emplace_back(plan::AddRule{.rule = rule});
  }
  return show_plan(plan, {.title = node + ", its kernel asked now", .kind = "Diff"});
}

// worker-1 lacks a rule, nobody answers for worker-2.
base::Result<Answer> ask(const std::string& node, const Question& question) {
  EXPECT_EQ(question.about, Question::About::diff);
  EXPECT_EQ(question.wanted->node, node);
  EXPECT_EQ(question.wanted->configs.size(), 1U) << "what others made is not asked of a node";
  if (node == "worker-2") return base::fail(base::Fault::absent, "no agent runs there");
  return diff_of(node, true);
}

TEST(LiveDiff, a_kernel_is_asked_and_a_report_stands_in_for_one_that_cannot_be) {
  const auto one = diff_in_cluster(two_nodes(), {"worker-1"}, kNow, ask);
  ASSERT_TRUE(one) << one.error().message();
  EXPECT_THAT(one->page.render({}), HasSubstr("worker-1, its kernel asked now\n  + IPv4 rule 1000: "));
  EXPECT_THAT(one->page.render({}), HasSubstr("Diff: 1 of 1 nodes differ, by their kernels, asked now.\n"));
  EXPECT_EQ(one->code, ExitCode::attention);
  EXPECT_THAT(one->json, HasSubstr(R"({"name":"worker-1","source":"kernel","diff":{)"));

  const auto both = diff_in_cluster(two_nodes(), {}, kNow, ask);
  EXPECT_THAT(both->page.render({}), HasSubstr("by the kernels of 1 and the reports of the others.\n"));
  EXPECT_THAT(both->page.render({}), HasSubstr("Not asked: the kernel of worker-2: no agent runs there\n"));
  EXPECT_EQ(both->code, ExitCode::could_not_ask);

  const auto reports = diff_in_cluster(two_nodes(), {}, kNow);
  EXPECT_THAT(reports->page.render({}), HasSubstr("as far as reports tell: no kernel was asked.\n"));
}

TEST(LiveDiff, a_kernel_that_was_not_seen_whole_is_none_that_differs) {
  const auto answer = diff_in_cluster(two_nodes(), {"worker-1"}, kNow, [](const std::string& node, const Question&) {
    Answer half = diff_of(node, false);
    half.code = ExitCode::could_not_ask;
    return base::Result<Answer>(half);
  });
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_THAT(answer->page.render({}),
              HasSubstr("Diff: 0 of 1 nodes differ, 1 not seen whole, by their kernels, asked now.\n"));
  EXPECT_EQ(answer->code, ExitCode::could_not_ask);
}

TEST(LiveDiff, a_report_that_could_not_be_listed_is_not_one_that_is_missing) {
  ClusterObjects objects = two_nodes();
  objects.reports.clear();
  const auto missing = diff_in_cluster(objects, {"worker-1"}, kNow);
  EXPECT_THAT(missing->page.render({}), HasSubstr("worker-1  no report: no agent has run there\n"));
  EXPECT_EQ(missing->code, ExitCode::attention);
  objects.gaps = {"nodestates.api.operator.brtrm.dev: 403 Forbidden"};
  const auto unknown = diff_in_cluster(objects, {"worker-1"}, kNow);
  EXPECT_THAT(unknown->page.render({}), HasSubstr("worker-1  its report is not known\n"));
  EXPECT_EQ(unknown->code, ExitCode::could_not_ask);
}

TEST(SupposedAssignment, nothing_is_supposed_of_what_is_not_known_whole) {
  ClusterObjects objects = two_nodes();
  EXPECT_TRUE(supposed_assignment(objects, "worker-1"));
  objects.gaps = {"services: 403 Forbidden"};
  const auto half = supposed_assignment(objects, "worker-1");
  ASSERT_FALSE(half);
  EXPECT_THAT(half.error().message(), HasSubstr("not known whole: services: 403 Forbidden"));
}

TEST(LiveDiff, what_is_not_known_whole_is_not_compared) {
  ClusterObjects objects = two_nodes();
  objects.gaps = {"ipruleconfigs.api.operator.brtrm.dev: 403 Forbidden"};
  bool asked = false;
  const auto answer = diff_in_cluster(objects, {"worker-1"}, kNow, [&](const std::string&, const Question&) {
    asked = true;
    return base::Result<Answer>(Answer());
  });
  EXPECT_FALSE(asked);
  EXPECT_THAT(answer->page.render({}), HasSubstr("the kernel of worker-1: not compared, because what is wanted of it"));
  EXPECT_EQ(answer->code, ExitCode::could_not_ask);
}

TEST(LiveDrift, what_the_kernel_lacks_now_is_drift) {
  const auto drift = drift_in_cluster(two_nodes(), {.nodes = {"worker-1"}}, kNow, ask);
  ASSERT_TRUE(drift) << drift.error().message();
  EXPECT_THAT(
      drift->page.render({}),
      HasSubstr(
          "worker-1  IPv4 rule 1000: from all lookup 100 proto 183  present  missing  -       not repaired yet\n"));
  EXPECT_THAT(drift->page.render({}), HasSubstr("Kernels asked: 1.\n"));
  EXPECT_EQ(drift->code, ExitCode::attention);
  EXPECT_THAT(drift->names, ElementsAre("node/worker-1"));
  const auto rows = drift_in_cluster(two_nodes(), {.nodes = {"worker-1"}, .style = {.headers = false}}, kNow, ask);
  EXPECT_THAT(rows->page.render({}), Not(HasSubstr("NODE")));

  const auto silent = drift_in_cluster(two_nodes(), {.nodes = {"worker-2"}}, kNow, ask);
  EXPECT_EQ(silent->code, ExitCode::could_not_ask);
  EXPECT_THAT(silent->page.render({}), HasSubstr("Not asked: the kernel of worker-2: no agent runs there\n"));
}

TEST(LiveDrift, a_kernel_that_is_right_shows_none) {
  const auto drift = drift_in_cluster(two_nodes(), {}, kNow, [](const std::string& node, const Question&) {
    return base::Result<Answer>(diff_of(node, false));
  });
  EXPECT_EQ(drift->code, ExitCode::fine);
  EXPECT_THAT(drift->page.render({}), HasSubstr("0 of 2 nodes report that others change what is ours"));
}

}  // namespace
}  // namespace cli
