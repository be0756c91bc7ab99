// An agent whose node has just booted, perhaps with ten thousand others: its clock is that of a young machine.
#include <chrono>

#include <gmock/gmock.h>

#include "agent_on_node.h"

namespace cluster_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kLater = "asked for a little later";

class AgentBoot : public AgentOnNode {
 protected:
  void know_nodes(int nodes) {
    apply(fmt::format("apiVersion: {}\nkind: NodeState\nmetadata: {{name: {}}}\nspec: {{token: t, nodes: {}}}\n",
                      api::kApiVersion, kNode, nodes));
  }
  void boot() { start_agent_after(60s); }
  // On a node that has been up for so long, whatever is true of this machine.
  void start_agent_after(std::chrono::seconds uptime) {
    const auto up = std::chrono::steady_clock::now().time_since_epoch();
    const auto more = std::chrono::duration_cast<std::chrono::seconds>(uptime - up).count();
    start_agent({}, {"unshare", "--time", fmt::format("--monotonic={}", more)});
  }
};

TEST_F(AgentBoot, E6_among_many_it_asks_a_little_later_and_then_works_as_ever) {
  know_nodes(51);
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  boot();
  EXPECT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_TRUE(becomes_reported(".counts.rules", "1"));
  EXPECT_THAT(agent_->output(), HasSubstr(kLater));
  publish(config("iprc-10-96-1-51", "10.96.1.51"));
  EXPECT_TRUE(rule_appears("10.96.1.51"));
}

TEST_F(AgentBoot, E6_among_few_and_when_only_the_agent_is_new_it_asks_at_once) {
  know_nodes(50);
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  boot();
  EXPECT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_THAT(agent_->output(), Not(HasSubstr(kLater)));
  agent_->kill();

  know_nodes(51);
  start_agent_after(24h);
  EXPECT_TRUE(becomes_reported(".counts.rules", "1"));
  EXPECT_THAT(agent_->output(), Not(HasSubstr(kLater)));
}

// Its kernel is changed at once; what it has to say waits for its turn, and is then said once.
TEST_F(AgentBoot, B6_among_many_whatever_happens_until_its_turn_is_one_report) {
  constexpr auto kTurn = 5485ms;  // Of this name among so many.
  know_nodes(6000);
  const auto start = std::chrono::steady_clock::now();
  start_agent_after(24h);
  for (const std::string number : {"1", "2", "3"}) {
    publish(config("iprc-10-96-1-" + number, "10.96.1." + number));
    ASSERT_TRUE(rule_appears("10.96.1." + number));
  }
  ASSERT_TRUE(becomes_reported(".counts.rules", "3"));
  const std::string metrics = ask("/metrics");
  const std::string patches = "method=\"PATCH\"} ";
  const auto at = metrics.find(patches);
  ASSERT_NE(at, metrics.npos) << metrics;
  const auto turns = (std::chrono::steady_clock::now() - start) / kTurn;
  EXPECT_LE(std::stol(metrics.substr(at + patches.size())), turns);
}

}  // namespace
}  // namespace cluster_test
