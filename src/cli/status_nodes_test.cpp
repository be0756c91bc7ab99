#include "cli/status_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr meta::Time kNow{std::chrono::seconds(1'800'000'000)};

ClusterFacts example() {
  ClusterFacts facts;
  api::NodeState good;
  good.meta.name = "worker-2";
  good.status.sync = api::Sync::in_sync;
  good.status.dataplane = api::Backend::rules;
  good.status.version = "0.1.0";
  good.status.changed = kNow - 192s;
  good.status.counts = api::NodeCounts{.rules = 4, .sources = 2};
  good.status.facts.kernel = "6.12";
  api::NodeState bad = good;
  bad.meta.name = "worker-1";
  bad.status.sync = api::Sync::failing;
  bad.status.counts = api::NodeCounts{.rules = 10, .sources = 2, .failures = 1};
  bad.status.empty_tables = {{.table = 100, .family = api::IPFamily::v4}};
  facts.nodes = {good, bad};
  return facts;
}

TEST(StatusNodes, every_node_has_a_row_also_one_that_never_reported) {
  const auto answer = show_nodes(example(), {"worker-1", "worker-2", "worker-3"}, kNow, {});
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->page.render({}),
            "NODE      SYNC       DATAPLANE  RULES  SOURCES  SINCE  VERSION  PROBLEM\n"
            "worker-1  Failing    rules      10     2        3m12s  0.1.0    1 failed, table 100 has no IPv4 route\n"
            "worker-2  InSync     rules      4      2        3m12s  0.1.0    -\n"
            "worker-3  no report  -          -      -        -      -        no agent has run there\n"
            "1 of 3 nodes in sync.\n");
  EXPECT_EQ(answer->code, ExitCode::attention);
  EXPECT_THAT(answer->names, ElementsAre("node/worker-1", "node/worker-2", "node/worker-3"));
  EXPECT_THAT(answer->json, HasSubstr(R"({"name":"worker-3"})"));
}

TEST(StatusNodes, what_a_dead_agent_reported_is_not_known_any_more) {
  ClusterFacts facts = example();
  facts.runs = {{.ns = "s", .pod = "a", .node = "worker-1", .is_leaving = false, .trouble = {}},
                {.ns = "s",
                 .pod = "b",
                 .node = "worker-2",
                 .is_leaving = false,
                 .trouble = {.kind = api::PodTrouble::Kind::crashing, .text = "crashes: Error, exit code 1"}}};
  const auto answer = show_nodes(facts, {"worker-2", "worker-3"}, kNow, {});
  EXPECT_THAT(
      answer->page.render({}),
      HasSubstr("worker-2  UNKNOWN    rules      4      2        3m12s  0.1.0    its agent crashes: Error, exit "
                "code 1\n"
                "worker-3  no report  -          -      -        -      -        no agent runs there\n"
                "0 of 2 nodes in sync.\n"));
  EXPECT_EQ(answer->code, ExitCode::attention);
  EXPECT_THAT(answer->json, HasSubstr(R"("name":"worker-2","agentRuns":false,"why":"its agent crashes)"));
}

TEST(StatusNodes, only_those_that_are_meant_sorted_as_wanted) {
  const auto one = show_nodes(example(), {"worker-2"}, kNow, {.wide = true, .headers = false});
  EXPECT_EQ(one->page.render({}), "worker-2  InSync  rules  4  2  3m12s  0.1.0  -  6.12  -\n");
  EXPECT_EQ(one->code, ExitCode::fine);
  const auto sorted = show_nodes(example(), {}, kNow, {.sort_by = ".rules"});
  EXPECT_THAT(sorted->names, ElementsAre("node/worker-2", "node/worker-1"));
  EXPECT_FALSE(show_nodes(example(), {}, kNow, {.sort_by = ".nothing"}));
}

TEST(StatusNodes, what_could_not_be_asked_is_said) {
  ClusterFacts facts = example();
  facts.gaps = {"nodes: forbidden"};
  const auto answer = show_nodes(facts, {}, kNow, {});
  EXPECT_THAT(answer->page.render({}), HasSubstr("Not asked: nodes: forbidden\n"));
  EXPECT_EQ(answer->code, ExitCode::could_not_ask);
}

}  // namespace
}  // namespace cli
