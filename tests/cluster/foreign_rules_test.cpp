// Rules that are not ours: where they stay, where they are named, and where an administrator lets them go.
#include <gmock/gmock.h>

#include "agent_on_node.h"

namespace cluster_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class ForeignRules : public AgentOnNode {
 protected:
  void order(const std::string& foreign_rules) {
    apply(
        fmt::format("apiVersion: {}\nkind: Agent\nmetadata: {{name: agent, namespace: default}}\n"
                    "spec: {{foreignRules: {}}}\n",
                    api::kApiVersion, foreign_rules));
  }
  std::string found() { return reported(R"(.conditions[?(@.type=="ForeignRules")].message)"); }
};

TEST_F(ForeignRules, D26_ours_is_added_beside_one_that_only_looks_like_it) {
  ip({"rule", "add", "from", "10.96.1.50", "fwmark", "0x1", "lookup", "100", "priority", "1000", "protocol", "4"});
  ip({"rule", "add", "from", "10.96.1.51", "lookup", "100", "priority", "40000", "protocol", "4"});
  const std::string before = rules();
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  auto unspecified = config("iprc-10-96-1-51", "10.96.1.51");
  unspecified.spec.priority = 0;
  publish(unspecified);
  start_agent();
  EXPECT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_TRUE(eventually("the other is there", kBound,
                         [&] { return rules().contains("32765:\tfrom 10.96.1.51 lookup 100 proto 183"); }));
  withdraw("iprc-10-96-1-50");
  withdraw("iprc-10-96-1-51");
  EXPECT_TRUE(
      eventually("D20: what was there before is there, and nothing else", kBound, [&] { return rules() == before; }));
}

TEST_F(ForeignRules, reported_ones_are_named_and_stay) {
  ip({"rule", "add", "from", "10.96.7.7", "lookup", "100", "priority", "900"});
  order("{policy: Report, tables: [100]}");
  ask_for_report("t");
  start_agent();
  EXPECT_TRUE(eventually("it is named", kBound, [&] { return found().contains("900: from 10.96.7.7 lookup 100"); }));
  EXPECT_THAT(rules(), HasSubstr("900:\tfrom 10.96.7.7 lookup 100"));
  for (const char* path : {"/ready", "/ready?verbose"}) {
    EXPECT_THAT(ask(path), HasSubstr("ready\nforeign rule in scope: 900: from 10.96.7.7 lookup 100")) << path;
  }
}

TEST_F(ForeignRules, pruned_ones_go_and_what_is_out_of_scope_stays) {
  ip({"rule", "add", "from", "10.96.7.7", "lookup", "100", "priority", "900"});
  ip({"rule", "add", "from", "10.96.7.8", "lookup", "100", "priority", "900", "protocol", "4"});
  ip({"rule", "add", "from", "10.97.7.7", "lookup", "100", "priority", "900"});
  ip({"rule", "add", "from", "10.96.7.7", "lookup", "101", "priority", "900"});
  publish(config("iprc-10-96-1-50", "10.96.1.50"));
  order("{policy: Prune, tables: [100], sources: [10.96.0.0/16]}");
  ask_for_report("t");
  start_agent({"RECONCILE_PERIOD=1s"});
  EXPECT_TRUE(eventually("both are gone", kBound, [&] {
    const std::string now = rules();
    return !now.contains("from 10.96.7.7 lookup 100") && !now.contains("from 10.96.7.8");
  }));
  EXPECT_THAT(rules(), HasSubstr("900:\tfrom 10.97.7.7 lookup 100"));
  EXPECT_THAT(rules(), HasSubstr("900:\tfrom 10.96.7.7 lookup 101"));
  EXPECT_TRUE(rule_appears("10.96.1.50"));
  EXPECT_TRUE(eventually("the way back is told", kBound, [&] {
    return agent_->output().contains("ip rule add priority 900 from 10.96.7.7 lookup 100");
  }));
  EXPECT_TRUE(eventually("none is left to name", kBound, [&] { return found().contains("no rule of others"); }));
}

}  // namespace
}  // namespace cluster_test
