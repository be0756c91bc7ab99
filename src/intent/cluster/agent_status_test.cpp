#include "intent/cluster/agent_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace intent {
namespace {

using namespace std::chrono_literals;
using api::Agent;
using api::DaemonSet;
using testing::HasSubstr;

constexpr meta::Time kNow{1000s};
constexpr meta::Time kLater{2000s};

Agent agent() {
  Agent out;
  out.meta.name = "agent";
  out.meta.ns = "system";
  out.meta.generation = 3;
  return out;
}

DaemonSet rolled_out(int nodes) {
  DaemonSet out;
  out.meta.generation = 2;
  out.status = {.observed_generation = 2, .desired = nodes, .current = nodes, .ready = nodes, .updated = nodes};
  return out;
}

std::string reason(const Agent::Status& status) {
  return status.conditions.at(0).reason;
}
std::string message(const Agent::Status& status) {
  return status.conditions.at(0).message;
}

TEST(AgentStatus, a_finished_rollout_is_ready_and_its_figures_are_copied) {
  const DaemonSet set = rolled_out(3);
  const auto status = active_status(agent(), &set, {}, kNow);
  EXPECT_EQ(reason(status), "AllReady");
  EXPECT_EQ(message(status), "All 3 pods ready");
  EXPECT_EQ(status.conditions.at(0).status, meta::Truth::yes);
  EXPECT_EQ(status.conditions.at(0).observed_generation, 3);
  EXPECT_EQ(status.observed_generation, 3);
  EXPECT_EQ(status.desired, 3);
  EXPECT_EQ(status.ready, 3);
}

TEST(AgentStatus, a_server_without_policies_is_named_and_a_newer_one_is_not) {
  const DaemonSet set = rolled_out(3);
  Agent one = agent();
  one.status = active_status(one, &set, {.lacks_policies = true}, kNow);
  const auto* isolation = meta::find(one.status.conditions, "NodeIsolation");
  ASSERT_NE(isolation, nullptr);
  EXPECT_EQ(isolation->status, meta::Truth::no);
  EXPECT_EQ(reason(one.status), "AllReady") << "everything works all the same";
  EXPECT_EQ(active_status(one, &set, {.lacks_policies = true}, kLater), one.status);
  one.status = active_status(one, &set, {}, kLater);
  EXPECT_EQ(meta::find(one.status.conditions, "NodeIsolation"), nullptr);
}

TEST(AgentStatus, D37_says_the_same_again_without_a_change) {
  Agent one = agent();
  DaemonSet set = rolled_out(3);
  one.status = active_status(one, &set, {}, kNow);
  EXPECT_EQ(active_status(one, &set, {}, kLater), one.status);
  set.status.ready = 2;
  const auto worse = active_status(one, &set, {}, kLater);
  EXPECT_EQ(worse.conditions.at(0).last_transition, kLater);
  one.status = worse;
  set.status.ready = 1;
  EXPECT_EQ(active_status(one, &set, {}, kLater + 1s).conditions.at(0).last_transition, kLater) << "still not ready";
}

TEST(AgentStatus, D39_not_ready_before_the_last_node_runs_the_new_template) {
  DaemonSet set = rolled_out(3);
  set.status.updated = 2;
  EXPECT_EQ(reason(active_status(agent(), &set, {}, kNow)), "Progressing");
  EXPECT_EQ(message(active_status(agent(), &set, {}, kNow)), "Desired=3 Current=3 Ready=3 Updated=2");
  set = rolled_out(3);
  set.meta.generation = 3;
  EXPECT_EQ(reason(active_status(agent(), &set, {}, kNow)), "Progressing") << "figures of the generation before";
  EXPECT_EQ(reason(active_status(agent(), nullptr, {}, kNow)), "Progressing");
}

TEST(AgentStatus, D39_no_node_to_run_on_is_said) {
  Agent one = agent();
  one.spec.node_selector = {{"role", "edge"}};
  DaemonSet set = rolled_out(0);
  EXPECT_EQ(reason(active_status(one, &set, {}, kNow)), "NoMatchingNodes");
  EXPECT_THAT(message(active_status(one, &set, {}, kNow)), HasSubstr("role=edge"));
  set.status.observed_generation = 1;
  EXPECT_EQ(reason(active_status(one, &set, {}, kNow)), "Progressing") << "not counted yet";
}

TEST(AgentStatus, the_first_obstacle_counts_and_its_message_says_what_to_do) {
  DaemonSet set = rolled_out(3);
  set.status.ready = 0;
  RolloutFacts facts{.silent_node = "n1: its node gives no sign of life"};
  EXPECT_EQ(reason(active_status(agent(), &set, facts, kNow)), "NodesNotReady");
  facts.no_place = "n1: has no place: Unschedulable: Insufficient cpu";
  EXPECT_EQ(reason(active_status(agent(), &set, facts, kNow)), "PodsPending");
  EXPECT_THAT(message(active_status(agent(), &set, facts, kNow)), HasSubstr("Insufficient cpu; make room"));
  facts.crashing = "n1: crashes: Error, exit code 1";
  EXPECT_EQ(reason(active_status(agent(), &set, facts, kNow)), "PodsCrashing");
  EXPECT_THAT(message(active_status(agent(), &set, facts, kNow)),
              HasSubstr("exit code 1; see kubectl logs --previous -n system -l app=iprule-agent"));
  facts.image_error = "n1: ImagePullBackOff";
  EXPECT_EQ(reason(active_status(agent(), &set, facts, kNow)), "ImagePullError");
  facts.pods_forbidden = R"(pods "x" is forbidden: violates PodSecurity "baseline:latest")";
  EXPECT_EQ(reason(active_status(agent(), &set, facts, kNow)), "PodsForbidden");
  EXPECT_THAT(message(active_status(agent(), &set, facts, kNow)),
              HasSubstr("kubectl label namespace system pod-security.kubernetes.io/enforce=privileged"));
  facts.account_missing = true;
  EXPECT_EQ(reason(active_status(agent(), &set, facts, kNow)), "ServiceAccountMissing");
  EXPECT_THAT(message(active_status(agent(), &set, facts, kNow)),
              HasSubstr("kubectl create serviceaccount iprule-agent -n system"));
  facts.invalid = "spec.tolerations[0].operator: unsupported";
  EXPECT_EQ(reason(active_status(agent(), &set, facts, kNow)), "InvalidSpec");
  facts.not_allowed = "denied request: image";
  EXPECT_EQ(reason(active_status(agent(), &set, facts, kNow)), "ImageNotAllowed");
  facts.foreign_set = "Deployment x";
  EXPECT_EQ(reason(active_status(agent(), &set, facts, kNow)), "NameTaken");
  facts.not_prepared = "kubectl create ...";
  EXPECT_EQ(reason(active_status(agent(), &set, facts, kNow)), "NamespaceNotPrepared");
}

TEST(AgentStatus, D35_where_another_pod_has_the_port_the_cure_is_another_port) {
  DaemonSet set = rolled_out(3);
  set.status.ready = 2;
  const auto status = active_status(
      agent(), &set,
      {.no_place = "n1: has no place: Unschedulable: 0/3 nodes are available: 1 node(s) didn't have free ports for the "
                   "requested pod ports, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."},
      kNow);
  EXPECT_EQ(reason(status), "PodsPending");
  EXPECT_THAT(message(status), HasSubstr("; give spec.metricsBindAddress another port, or \"0\" for none"));
  EXPECT_THAT(message(status), testing::Not(HasSubstr("spec.resources")));
}

TEST(AgentStatus, D42_an_agent_that_does_not_count_names_the_one_that_does) {
  Agent other = agent();
  other.meta.ns = "elsewhere";
  const Agent active = agent();
  const auto status = inactive_status(other, &active, nullptr, kNow);
  EXPECT_EQ(reason(status), "InactiveInstance");
  EXPECT_THAT(message(status), HasSubstr("system/agent"));
  other.meta.name = "mine";
  EXPECT_EQ(reason(inactive_status(other, &active, nullptr, kNow)), "InvalidName");
}

TEST(AgentStatus, figures_of_a_set_that_cannot_be_seen_stay) {
  const DaemonSet set = rolled_out(3);
  Agent one = agent();
  one.status = active_status(one, &set, {}, kNow);
  EXPECT_EQ(active_status(one, std::nullopt, {.not_prepared = "kubectl create ..."}, kNow).ready, 3);
  EXPECT_EQ(active_status(one, nullptr, {}, kNow).ready, 0);
  EXPECT_EQ(inactive_status(one, nullptr, std::nullopt, kNow).current, 3);
  EXPECT_EQ(inactive_status(one, nullptr, nullptr, kNow).current, 0);
}

TEST(AgentStatus, an_agent_may_have_pods_unless_it_was_told_and_its_set_is_gone) {
  const Agent active = agent();
  const DaemonSet set = rolled_out(1);
  Agent other = agent();
  EXPECT_TRUE(may_have_pods(other)) << "it was told nothing";
  other.status = active_status(other, nullptr, {}, kNow);
  EXPECT_TRUE(may_have_pods(other)) << "it counts";
  other.status = inactive_status(other, &active, &set, kNow);
  EXPECT_TRUE(may_have_pods(other)) << "its set is there still";
  other.status = inactive_status(other, &active, std::nullopt, kNow);
  EXPECT_TRUE(may_have_pods(other)) << "nobody saw it go";
  other.status = inactive_status(other, &active, nullptr, kNow);
  EXPECT_FALSE(may_have_pods(other));
  other.meta.name = "mine";
  other.status = inactive_status(other, &active, nullptr, kNow);
  EXPECT_FALSE(may_have_pods(other));
}

}  // namespace
}  // namespace intent
