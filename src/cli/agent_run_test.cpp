#include "cli/agent_run.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

using Kind = api::PodTrouble::Kind;

AgentRun run(const std::string& pod, bool is_leaving, Kind kind) {
  return {.ns = "s", .pod = pod, .node = "worker-1", .is_leaving = is_leaving, .trouble = {.kind = kind, .text = "x"}};
}

TEST(AgentRun, of_two_pods_of_a_node_the_one_that_runs_counts_or_the_one_that_stays) {
  const AgentRun good = run("good", false, Kind::none);
  const AgentRun leaving = run("leaving", true, Kind::none);
  const AgentRun starting = run("starting", false, Kind::starting);
  EXPECT_EQ(runs_by_node({leaving, good}).at("worker-1"), good);
  EXPECT_EQ(runs_by_node({good, leaving}).at("worker-1"), good);
  EXPECT_EQ(runs_by_node({starting, good}).at("worker-1"), good);
  EXPECT_EQ(runs_by_node({leaving, starting}).at("worker-1"), starting);
  EXPECT_EQ(runs_by_node({starting, leaving}).at("worker-1"), starting);
}

TEST(AgentRun, why_it_does_not_run_is_a_sentence) {
  EXPECT_EQ(why_it_does_not_run(nullptr), "no agent runs there");
  AgentRun one = run("a", true, Kind::none);
  EXPECT_EQ(why_it_does_not_run(&one), "its agent is being stopped");
  one = run("a", false, Kind::no_image);
  EXPECT_EQ(why_it_does_not_run(&one), "its agent waits for its image: x");
  one = run("a", false, Kind::silent_node);
  EXPECT_EQ(why_it_does_not_run(&one), "x");
}

}  // namespace
}  // namespace cli
