// iprulectl over the objects of a cluster: plan and diff.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "questions.h"

namespace questions {
namespace {

using testing::HasSubstr;

TEST_F(Questions, plan_of_an_agent_shows_what_its_settings_would_change) {
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRule
metadata: {name: public-eu}
spec: {cidrs: [203.0.113.0/24], table: 100, source: {modes: [LoadBalancerIP]}}
)");
  const auto done = ask({"plan", "--node", "worker-1", "-f", file(R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: Agent
metadata: {name: agent, namespace: default}
spec: {defaultPriority: 900}
)")});
  EXPECT_EQ(done.exit.code, 3) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("+ IPv4 rule 900: from 203.0.113.45 lookup 100"));
  EXPECT_THAT(done.output, HasSubstr("- IPv4 rule 32765: from 203.0.113.45 lookup 100"));
  EXPECT_THAT(done.output, HasSubstr("As far as objects tell: no kernel was asked.\n"
                                     "Not asked: the kernel of worker-1: there is no Agent object"));
}

TEST_F(Questions, plan_lays_manifests_over_the_cluster_and_folds_nodes_that_are_alike) {
  const auto done = ask({"plan", "-f", file(rule("Reply"))});
  EXPECT_EQ(done.exit.code, 1) << done.errors;
  EXPECT_EQ(
      done.output,
      "IPRule/public-eu  new  2 nodes\n"
      "worker-1, worker-2 (2 alike)\n"
      "  + IPv4 rule 999: from all fwmark 0x100/0x3f00 lookup main suppress_prefixlength 0 proto 183\n"
      "  + IPv4 rule 1000: from all fwmark 0x100/0x3f00 lookup 100 proto 183\n"
      "  + table inet iprule\n"
      "  + chain reply01 mark 0x100/0x3f00\n"
      "  + element vip4 203.0.113.45 : goto reply01\n"
      "  ? table 100: whether it has IPv4 routes nobody has looked yet; --node asks\n"
      "Plan: 10 to add, 0 to change, 0 to delete on 2 of 2 nodes. As far as objects tell: no kernel was asked.\n");
  kubectl({"apply", "-f", "-"}, rule("Reply"));
  const auto again = ask({"plan", "-f", file(rule("Reply"))});
  EXPECT_EQ(again.exit.code, 0) << again.output;
  EXPECT_EQ(again.output,
            "Plan: 0 to add, 0 to change, 0 to delete on 0 of 2 nodes. As far as objects tell: no kernel was asked.\n");
  const auto changed = ask({"plan", "-f", file(rule("ClusterIP"))});
  EXPECT_THAT(changed.output, testing::StartsWith("IPRule/public-eu  generation 1 -> 2  spec.source.modes [Reply] -> "
                                                  "[ClusterIP]  2 nodes\n"
                                                  "  ! IPRule/public-eu: no reply carries the source ClusterIP behind "
                                                  "kube-proxy nftables"));
  EXPECT_THAT(ask({"plan", "-f", file(rule("LoadBalancerIP")), "--node", "worker-1", "-o", "json"}).output,
              HasSubstr(R"("kind":"ClusterPlan","groups":[{"nodes":["worker-1"],"source":"objects","plan":{)"));
}

TEST_F(Questions, a_full_plan_folds_nothing) {
  const auto done = ask({"plan", "--full", "-f", file(rule("LoadBalancerIP"))});
  EXPECT_THAT(done.output, HasSubstr("worker-1\n  + IPv4 rule 1000: from 203.0.113.45 lookup 100 proto 183\n"));
  EXPECT_THAT(done.output, HasSubstr("worker-2\n  + IPv4 rule 1000: from 203.0.113.45 lookup 100 proto 183\n"));
  EXPECT_THAT(ask({"plan", "-f", file(rule("LoadBalancerIP")), "-l", "site=eu"}).output, HasSubstr("on 1 of 1 nodes"));
}

TEST_F(Questions, a_node_that_is_not_there_is_named_with_the_nearest) {
  const auto done = ask({"plan", "-f", file(rule("Reply")), "--node", "worker-l"});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_EQ(done.errors, "iprulectl: --node: there is no node \"worker-l\"; did you mean \"worker-1\"?\n");
}

TEST_F(Questions, diff_tells_what_nodes_have_not_reported) {
  EXPECT_EQ(ask({"diff"}).exit.code, 0);
  kubectl({"apply", "-f", "-"}, R"(
apiVersion: api.operator.brtrm.dev/v1alpha1
kind: IPRuleConfig
metadata: {name: iprc-test}
spec: {serviceIP: 203.0.113.45, table: 0, routeTable: 100, priority: 1000, state: present, sourceMode: Reply}
)");
  const auto done = ask({"diff", "-l", "site=eu"});
  EXPECT_EQ(done.exit.code, 1) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("worker-1  by its report"));
  EXPECT_THAT(done.output,
              HasSubstr("  +  IPRuleConfig/iprc-test  Reply 203.0.113.45 table 100 priority 1000  not reported yet\n"
                        "Diff: 1 of 1 nodes differ, as far as reports tell: no kernel was asked.\n"));

  const auto named = ask({"diff", "--node", "worker-1"});
  EXPECT_EQ(named.exit.code, 3) << named.errors;
  EXPECT_THAT(named.output, HasSubstr("Diff: 1 of 1 nodes differ, as far as reports tell: no kernel was asked.\n"
                                      "Not asked: the kernel of worker-1: there is no Agent object"));
}

}  // namespace
}  // namespace questions
