#include "cli/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/age.h"

namespace cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr meta::Time kNow{std::chrono::seconds(1'800'000'000)};

ClusterFacts example() {
  ClusterFacts facts;
  facts.leader = Leader{.holder = "controller-x2x", .renewed = kNow - 2s};
  api::Agent agent;
  agent.meta.name = "agent";
  agent.status.desired = agent.status.ready = 5;
  agent.status.conditions = {{.type = "Ready", .status = meta::Truth::yes, .reason = "AllReady"}};
  facts.agents = {agent};
  api::IPRule rule;
  rule.meta.name = "public-eu";
  rule.status.conditions = {{.type = "Accepted", .status = meta::Truth::yes, .reason = "Valid"},
                            {.type = "Conflicted", .status = meta::Truth::no}};
  facts.rules = {rule};
  facts.configs.resize(2);
  for (int i = 1; i <= 5; ++i) {
    api::NodeState node;
    node.meta.name = fmt::format("worker-{}", i);
    node.status.sync = api::Sync::in_sync;
    facts.nodes.push_back(node);
  }
  return facts;
}

TEST(Status, a_healthy_cluster_fits_a_few_lines) {
  const Answer answer = show_status(example(), kNow);
  EXPECT_EQ(answer.page.render({}),
            "      COMPONENT          READY  DETAIL\n"
            "  ok  iprule-controller  -      leader controller-x2x\n"
            "  ok  iprule-agent       5/5    Agent/agent AllReady\n"
            "      JOB            OBJECTS                    NODES  STATE\n"
            "  ok  service rules  1 IPRule, 2 IPRuleConfigs  5/5    in sync\n"
            "Healthy.\n");
  EXPECT_EQ(answer.code, ExitCode::fine);
}

TEST(Status, problems_are_grouped_by_cause_and_nodes_are_counted) {
  ClusterFacts facts = example();
  facts.rules[0].status.conditions.push_back({.type = "RoutesMissing",
                                              .status = meta::Truth::yes,
                                              .last_transition = kNow - 192s,
                                              .reason = "EmptyTable",
                                              .message = "table 100 has no IPv4 route on worker-3"});
  for (api::NodeState& node : facts.nodes) {
    node.status.sync = api::Sync::failing;
    node.status.settled = {{.kind = "IPRuleConfig",
                            .epoch = 1,
                            .failed_count = 1,
                            .failed = {{.uid = "u", .name = "iprc-1", .reason = "VRFNotFound", .message = "no red"}}}};
  }
  const Answer answer = show_status(facts, kNow);
  EXPECT_THAT(answer.page.render({}),
              HasSubstr("  PROBLEM  SINCE  OBJECT               NODES    WHAT\n"
                        "  -        -      IPRuleConfig/iprc-1  5 nodes  VRFNotFound: no red\n"
                        "  IPR0311  3m12s  IPRule/public-eu     -        EmptyTable: table 100 has no IPv4 route on "
                        "worker-3\n"
                        "Not healthy: 2 problems.  Next: iprulectl explain IPR0311\n"));
  EXPECT_EQ(answer.code, ExitCode::attention);
}

TEST(Status, a_silent_leader_is_a_problem) {
  ClusterFacts facts = example();
  facts.leader->renewed = kNow - 192s;
  const Answer answer = show_status(facts, kNow);
  EXPECT_THAT(answer.page.render({}), HasSubstr("  !!  iprule-controller  -      leader controller-x2x\n"));
  EXPECT_THAT(answer.page.render({}),
              HasSubstr("3m12s  iprule-controller  -      its leader controller-x2x has given no "
                        "sign of life: changes are not published\n"));
  EXPECT_EQ(answer.code, ExitCode::attention);
}

TEST(Status, what_could_not_be_asked_beats_what_is_known) {
  ClusterFacts facts = example();
  facts.gaps = {"nodestates.api.operator.brtrm.dev: forbidden"};
  const Answer answer = show_status(facts, kNow);
  EXPECT_THAT(answer.page.render({}), HasSubstr("Not asked: nodestates.api.operator.brtrm.dev: forbidden\n"));
  EXPECT_EQ(answer.page.render({}).find("Healthy"), std::string::npos);
  EXPECT_EQ(answer.code, ExitCode::could_not_ask);
}

TEST(Status, hostile_text_in_an_object_is_shown_and_not_obeyed) {
  ClusterFacts facts = example();
  facts.rules[0].status.conditions.push_back(
      {.type = "Accepted", .status = meta::Truth::no, .reason = "X", .message = "\x1b[2J\nHealthy."});
  EXPECT_THAT(show_status(facts, kNow).page.render({}), HasSubstr("X: \\x1b[2J\\x0aHealthy."));
}

TEST(Age, is_short) {
  EXPECT_EQ(age_text(12s), "12s");
  EXPECT_EQ(age_text(192s), "3m12s");
  EXPECT_EQ(age_text(90min), "90m");
  EXPECT_EQ(age_text(26h), "26h");
  EXPECT_EQ(age_text(24h * 9), "9d");
  EXPECT_EQ(age_text(-5s), "0s");
}

}  // namespace
}  // namespace cli
