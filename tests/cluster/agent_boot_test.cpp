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
    std::string prefixes;
    for (int i = 0; i < 3 * nodes; ++i) {
      prefixes += fmt::format("{}10.{}.{}.0/24", i == 0 ? "" : ", ", 100 + i / 256, i % 256);
    }
    apply(
        fmt::format("apiVersion: {}\nkind: NodeState\nmetadata: {{name: {}}}\n"
                    "spec: {{token: t, clusterPrefixes: [{}]}}\n",
                    api::kApiVersion, kNode, prefixes));
  }
  void boot() {
    const auto uptime = std::chrono::steady_clock::now().time_since_epoch();
    const auto too_much = std::chrono::duration_cast<std::chrono::seconds>(uptime - 60s).count();
    start_agent({}, {"unshare", "--time", fmt::format("--monotonic={}", -too_much)});
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

  if (std::chrono::steady_clock::now().time_since_epoch() < 5min) return;  // This machine has just booted itself.
  know_nodes(51);
  start_agent();
  EXPECT_TRUE(becomes_reported(".counts.rules", "1"));
  EXPECT_THAT(agent_->output(), Not(HasSubstr(kLater)));
}

}  // namespace
}  // namespace cluster_test
