#include "cli/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/age.h"

namespace cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr meta::Time kNow{std::chrono::seconds(1'800'000'000)};

AgentRun running(const std::string& node) {
  return {.ns = "system", .pod = "iprule-agent-" + node, .node = node, .is_leaving = false, .trouble = {}};
}

ClusterFacts example() {
  ClusterFacts facts;
  facts.controller = {.sets = {{{.ns = "system", .name = "manager", .version = "0.3.0", .wanted = 2, .ready = 2}}},
                      .is_lease_known = true,
                      .leader = Leader{.holder = "controller-x2x", .renewed = kNow - 2s},
                      .gaps = {}};
  facts.controller.sets->front().elects = true;
  api::Agent agent;
  agent.meta.name = "agent";
  agent.meta.ns = "system";
  agent.status.desired = agent.status.ready = 5;
  agent.status.conditions = {{.type = "Ready", .status = meta::Truth::yes, .reason = "AllReady"}};
  facts.agents = {agent};
  api::IPRule rule;
  rule.meta.name = "public-eu";
  rule.spec.table = 100;
  rule.status.conditions = {{.type = "Accepted", .status = meta::Truth::yes, .reason = "Valid"},
                            {.type = "Programmed", .status = meta::Truth::yes, .reason = "AllNodes"},
                            {.type = "Conflicted", .status = meta::Truth::no}};
  facts.rules = {rule};
  facts.configs.resize(2);
  facts.runs.emplace();
  for (int i = 1; i <= 5; ++i) {
    api::NodeState node;
    node.meta.name = fmt::format("worker-{}", i);
    node.status.sync = api::Sync::in_sync;
    node.status.version = "0.3.0";
    node.status.dataplane = api::Backend::rules;
    facts.nodes.push_back(node);
    facts.runs->push_back(running(node.meta.name));
  }
  return facts;
}

// Not healthy, and said so with a next step.
void expect_trouble(const ClusterFacts& facts, const std::string& line, const std::string& next) {
  const Answer answer = show_status(facts, kNow);
  const std::string page = answer.page.render({});
  EXPECT_THAT(page, HasSubstr(line));
  EXPECT_THAT(page, HasSubstr("Next: " + next + "\n"));
  EXPECT_THAT(page, Not(HasSubstr("Healthy.")));
  EXPECT_EQ(answer.code, ExitCode::attention) << page;
}

TEST(Status, a_healthy_cluster_fits_a_few_lines) {
  const Answer answer = show_status(example(), kNow);
  EXPECT_EQ(answer.page.render({}),
            "      COMPONENT          READY  VERSION  DETAIL\n"
            "  ok  iprule-controller  2/2    0.3.0    leader controller-x2x\n"
            "  ok  iprule-agent       5/5    0.3.0    Agent/agent AllReady, dataplane auto -> rules\n"
            "      JOB            OBJECTS                    NODES  STATE\n"
            "  ok  service rules  1 IPRule, 2 IPRuleConfigs  5/5    in sync\n"
            "Healthy.\n");
  EXPECT_EQ(answer.code, ExitCode::fine);
}

TEST(Status, versions_and_data_planes_that_differ_are_all_named) {
  ClusterFacts facts = example();
  facts.nodes[0].status.version = "0.2.0";
  facts.nodes[0].status.dataplane = api::Backend::marks;
  EXPECT_THAT(show_status(facts, kNow).page.render({}),
              HasSubstr("5/5    0.2.0, 0.3.0  Agent/agent AllReady, dataplane auto -> rules on 4, marks on 1\n"));
}

TEST(Status, problems_are_grouped_by_cause_and_nodes_are_counted) {
  ClusterFacts facts = example();
  facts.rules[0].status.conditions.push_back({.type = "RoutesMissing",
                                              .status = meta::Truth::yes,
                                              .last_transition = kNow - 192s,
                                              .reason = "EmptyTable",
                                              .message = "table 100 has no IPv4 route on worker-3"});
  facts.nodes[2].status.empty_tables = {{.table = 100, .family = api::IPFamily::v4}};
  for (api::NodeState& node : facts.nodes) {
    node.status.sync = api::Sync::failing;
    node.status.settled = {{.kind = "IPRuleConfig",
                            .epoch = 1,
                            .failed_count = 2,
                            .failed = {{.uid = "u", .name = "iprc-1", .reason = "VRFNotFound", .message = "no red"},
                                       {.uid = "v", .name = "iprc-2", .reason = "VRFNotFound", .message = "no blue"}}}};
  }
  facts.configs[0].meta.name = "iprc-1";
  facts.configs[0].status.nodes = {
      {.node = "worker-4", .reason = "VRFNotFound", .message = "no red", .last_transition = kNow - 5s},
      {.node = "worker-1", .reason = "VRFNotFound", .message = "no red", .last_transition = kNow - 40s}};
  const Answer answer = show_status(facts, kNow);
  EXPECT_THAT(answer.page.render({}),
              HasSubstr("  PROBLEM  SINCE  OBJECT                          NODES     WHAT\n"
                        "  -        40s    IPRuleConfig/iprc-1 and 1 more  5 nodes   VRFNotFound: no blue (and 1 other "
                        "message)\n"
                        "  IPR0311  3m12s  IPRule/public-eu                worker-3  EmptyTable: table 100 has no IPv4 "
                        "route on worker-3\n"
                        "Not healthy: 2 problems.  Next: iprulectl diff --node worker-1\n"));
  EXPECT_THAT(answer.page.render({}), HasSubstr("  0/5    5 failing\n"));
  EXPECT_EQ(answer.code, ExitCode::attention);
  EXPECT_THAT(answer.json, HasSubstr(R"("objects":["IPRuleConfig/iprc-1","IPRuleConfig/iprc-2"])"));
  EXPECT_THAT(answer.json, HasSubstr(R"("next":"iprulectl doctor --node worker-3")"));
}

TEST(Status, the_nodes_behind_an_empty_table_of_a_vrf_are_those_whose_device_has_it) {
  ClusterFacts facts = example();
  facts.rules[0].spec.table = 0;
  facts.rules[0].spec.vrf = "red";
  facts.rules[0].status.conditions.push_back({.type = "RoutesMissing",
                                              .status = meta::Truth::yes,
                                              .reason = "EmptyTable",
                                              .message = "the table of red has no IPv4 route on worker-3"});
  for (std::size_t i = 0; i < 3; ++i) facts.nodes[i].status.empty_tables = {{.table = 10, .family = api::IPFamily::v4}};
  facts.nodes[1].status.facts.vrfs = {{.device = "red", .table = 11}};
  facts.nodes[2].status.facts.vrfs = {{.device = "red", .table = 10}};
  expect_trouble(facts, "  IPR0311  -      IPRule/public-eu  worker-3  EmptyTable: the table of red has no IPv4 route",
                 "iprulectl doctor --node worker-3");
}

TEST(Status, what_nodes_refuse_for_a_reason_with_a_page_has_its_code_and_is_told_once) {
  ClusterFacts facts = example();
  facts.nodes[1].status.sync = api::Sync::failing;
  facts.nodes[1].status.settled = {
      {.kind = "IPRuleConfig",
       .epoch = 1,
       .failed_count = 1,
       .failed = {{.uid = "u", .name = "iprc-1", .reason = "NoNftables", .message = "no nf_tables"}}}};
  facts.rules[0].status.conditions[1] = {.type = "Programmed", .status = meta::Truth::no, .reason = "NodesFailing"};
  expect_trouble(facts,
                 "  IPR0319  -      IPRuleConfig/iprc-1  worker-2  NoNftables: no nf_tables\nNot healthy: 1 problem.",
                 "iprulectl explain IPR0319");
}

TEST(Status, a_silent_leader_is_a_problem) {
  ClusterFacts facts = example();
  facts.controller.leader->renewed = kNow - 192s;
  EXPECT_THAT(show_status(facts, kNow).page.render({}),
              HasSubstr("  !!  iprule-controller  2/2    0.3.0    leader controller-x2x\n"));
  expect_trouble(facts,
                 "3m12s  iprule-controller  -      its leader controller-x2x has given no sign of life: changes are "
                 "not published\n",
                 fmt::format("kubectl get pods -o wide -n system -l {}", kControllerLabels));
}

TEST(Status, a_controller_that_nobody_leads_is_a_problem) {
  ClusterFacts facts = example();
  facts.controller.sets->front().ready = 0;
  facts.controller.leader->holder.clear();
  const std::string next = fmt::format("kubectl get pods -o wide -n system -l {}", kControllerLabels);
  expect_trouble(facts, "iprule-controller  -      0/2 ready, nobody leads: changes are not published\n", next);
  facts.controller.leader.reset();
  expect_trouble(facts, "iprule-controller  -      0/2 ready, nobody leads: changes are not published\n", next);
  facts.controller.sets->front().ready = 2;
  expect_trouble(facts, "iprule-controller  -      nobody leads: changes are not published\n", next);
  facts.controller.sets->clear();
  expect_trouble(facts, "it is not installed: nothing is published, and no agents are run\n",
                 "iprulectl doctor --preflight");
}

TEST(Status, a_controller_that_does_not_elect_leads_by_running) {
  ClusterFacts facts = example();
  facts.controller.sets->front().elects = false;
  facts.controller.leader.reset();
  EXPECT_EQ(show_status(facts, kNow).code, ExitCode::fine);
  facts.controller.sets->front().ready = 1;
  expect_trouble(facts, "iprule-controller  -      1/2 ready\n",
                 fmt::format("kubectl get pods -o wide -n system -l {}", kControllerLabels));
}

TEST(Status, who_may_not_ask_for_the_leader_is_told_so_and_not_that_all_is_well) {
  ClusterFacts facts = example();
  facts.controller = {.sets = std::nullopt, .is_lease_known = false, .leader = {}, .gaps = {"leases: forbidden"}};
  const Answer answer = show_status(facts, kNow);
  EXPECT_THAT(answer.page.render({}),
              HasSubstr("  ?   iprule-controller  -      -        who leads could not be asked\n"));
  EXPECT_THAT(answer.page.render({}), HasSubstr("Not asked: leases: forbidden\n"));
  EXPECT_THAT(answer.page.render({}), Not(HasSubstr("Healthy")));
  EXPECT_EQ(answer.code, ExitCode::could_not_ask);
}

TEST(Status, an_agent_that_is_not_rolled_out_is_a_problem_whatever_the_reason) {
  const std::string next = "kubectl get pods -o wide -n system -l app=iprule-agent";
  ClusterFacts facts = example();
  facts.agents[0].status.conditions = {{.type = "Ready",
                                        .status = meta::Truth::no,
                                        .last_transition = kNow - 12s,
                                        .reason = "Progressing",
                                        .message = "Desired=5 Current=5 Ready=4 Updated=5"}};
  facts.rules[0].status.conditions[1] = {.type = "Programmed", .status = meta::Truth::no, .reason = "AgentNotReady"};
  expect_trouble(facts,
                 "  -        12s    Agent/agent  -      Progressing: Desired=5 Current=5 Ready=4 Updated=5\nNot "
                 "healthy: 1 problem.",
                 next);
  facts = example();
  facts.agents[0].status.conditions.clear();
  expect_trouble(facts, "Progressing: the controller has not looked at it yet\n", next);
  facts = example();
  facts.agents[0].meta.generation = 2;
  expect_trouble(facts, "Progressing: the controller has not looked at its last change yet\n", next);
  facts.agents.clear();
  expect_trouble(facts, "no Agent object: no agents run\n", "kubectl apply -f config/samples/agent.yaml");
}

TEST(Status, agents_that_the_controller_cannot_see_are_a_problem) {
  ClusterFacts facts = example();
  facts.rules[0].status.conditions[1] = {.type = "Programmed",
                                         .status = meta::Truth::unknown,
                                         .reason = "AgentsUnseen",
                                         .message = "agents in name space system cannot be seen"};
  expect_trouble(
      facts,
      "IPRule/public-eu  -      AgentsUnseen: agents in name space system cannot be seen\nNot healthy: 1 problem.",
      "kubectl describe iprule public-eu");
  EXPECT_EQ(rules_under_way(facts), 0U);
}

TEST(Status, what_nodes_say_of_themselves_is_a_problem) {
  ClusterFacts facts = example();
  facts.nodes[0].status.conditions = {{.type = "Drifting",
                                       .status = meta::Truth::yes,
                                       .last_transition = kNow - 30s,
                                       .reason = "RepeatedRepairs",
                                       .message = "somebody flushes"}};
  facts.nodes[1].status.conditions = facts.nodes[0].status.conditions;
  expect_trouble(
      facts,
      "  IPR0314  30s    NodeState  worker-1, worker-2  RepeatedRepairs: somebody flushes\nNot healthy: 1 problem.",
      "iprulectl drift");
  facts = example();
  facts.nodes[0].status.conditions = {
      {.type = "Clashing", .status = meta::Truth::yes, .reason = "ForeignRule", .message = "a twin"}};
  expect_trouble(facts, "  IPR0105  -      NodeState  worker-1  ForeignRule: a twin\n", "iprulectl drift");
  facts = example();
  facts.nodes[0].status.sync = api::Sync::failing;
  facts.nodes[0].status.conditions = {
      {.type = "Synced", .status = meta::Truth::no, .reason = "NotPermitted", .message = "EPERM"}};
  expect_trouble(facts, "  -        -      NodeState  worker-1  NotPermitted: EPERM\n",
                 "iprulectl doctor --node worker-1");
  facts = example();
  facts.nodes[0].status.sync = api::Sync::unknown;
  expect_trouble(facts, "NodeState  worker-1  NoReport: the agent has not reported yet\n", "kubectl get nodestates");
}

TEST(Status, the_report_of_a_dead_agent_does_not_count) {
  ClusterFacts facts = example();
  AgentRun& dead = facts.runs->at(2);
  dead.trouble = {.kind = api::PodTrouble::Kind::crashing, .text = "crashes: Error, exit code 1", .since = kNow - 60s};
  facts.runs->erase(facts.runs->begin());
  EXPECT_THAT(show_status(facts, kNow).page.render({}), HasSubstr("  3/5    2 unknown\n"));
  expect_trouble(facts,
                 "  -        60s    iprule-agent  worker-3  its agent crashes: Error, exit code 1: what the kernel has "
                 "now is not known\n",
                 "kubectl describe pod -n system iprule-agent-worker-3");
  EXPECT_THAT(show_status(facts, kNow).page.render({}),
              HasSubstr("iprule-agent  worker-1  no agent runs there: what the kernel has now is not known\n"));
  facts.runs.reset();
  EXPECT_EQ(show_status(facts, kNow).code, ExitCode::fine) << "nothing is claimed of pods that were not seen";
}

TEST(Status, what_is_under_way_is_no_problem_and_not_done) {
  ClusterFacts facts = example();
  EXPECT_EQ(rules_under_way(facts), 0U);
  facts.rules[0].status.conditions[1] = {.type = "Programmed", .status = meta::Truth::unknown, .reason = "Progressing"};
  EXPECT_EQ(rules_under_way(facts), 1U);
  EXPECT_THAT(show_status(facts, kNow).page.render({}), HasSubstr("Healthy.  1 IPRule under way.\n"));
  facts = example();
  facts.rules[0].meta.generation = 2;
  EXPECT_EQ(rules_under_way(facts), 1U) << "what it says now was not looked at";
}

TEST(Status, a_cluster_without_anything_of_ours_is_told_in_words) {
  ClusterFacts facts;
  facts.unserved = {"agents", "iprules", "ipruleconfigs", "nodestates"};
  const Answer answer = show_status(facts, kNow);
  EXPECT_EQ(answer.page.render({}), "Nothing of ours is installed here.  Next: iprulectl doctor --preflight\n");
  EXPECT_EQ(answer.code, ExitCode::attention);
  EXPECT_THAT(answer.json, HasSubstr(R"("healthy":false,"installed":false)"));
  facts.unserved.clear();
  facts.controller = {.sets = std::vector<ControllerSet>(), .is_lease_known = true, .leader = {}, .gaps = {}};
  EXPECT_TRUE(facts.is_not_installed());
  facts.gaps = {"agents: forbidden"};
  EXPECT_FALSE(facts.is_not_installed()) << "unknown is not empty";
}

TEST(Status, a_kind_that_is_missing_from_an_install_is_named) {
  ClusterFacts facts = example();
  facts.unserved = {"nodestates.api.operator.brtrm.dev"};
  expect_trouble(facts, "nodestates.api.operator.brtrm.dev  -      the server does not know this kind",
                 "kubectl apply -f dist/install.yaml");
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
