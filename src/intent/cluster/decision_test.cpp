#include "intent/cluster/decision.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intent/cluster/small_cluster.h"

namespace intent {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Two nodes, one IPRule, one Service.
class DecisionTest : public testing::Test {
 protected:
  DecisionTest() {
    cluster_.add_node("n1");
    cluster_.add_node("n2");
    rule().meta.generation = 1;
    cluster_.wishes.service("web", {"10.96.0.1"}, {"203.0.113.5"});
  }
  api::IPRule& rule() {
    if (!std::exchange(made_, true)) cluster_.wishes.rule("blue", {"203.0.113.0/24"}, 120, 1500);
    return cluster_.wishes.rule_named("blue");
  }
  api::IPRuleConfig& config() { return cluster_.server.configs.at("iprc-10-96-0-1"); }
  std::string config_condition(std::string_view type) {
    return SmallCluster::describe(meta::find(config().status.conditions, type));
  }
  std::string config_message(std::string_view type) {
    const auto* found = meta::find(config().status.conditions, type);
    return found != nullptr ? found->message : "";
  }
  api::NodeState::Facts& facts(const std::string& node) { return cluster_.server.states.at(node).status.facts; }
  static bool is_quiet(const Decision& decision) {
    return decision.states.empty() && decision.configs.empty() && decision.config_statuses.empty() &&
           decision.rule_statuses.empty();
  }
  void settle() {
    cluster_.pass();
    cluster_.settle_all();
    cluster_.pass();
  }

  SmallCluster cluster_;
  bool made_ = false;
};

// A controller that has just started sees the pods of its agents last.
TEST_F(DecisionTest, agents_that_are_not_seen_yet_are_not_missing) {
  cluster_.wishes.rule("far", {"198.51.100.0/24"}, 5);
  settle();
  for (auto& [name, state] : cluster_.server.states) state.status.dataplane = api::Backend::rules;
  cluster_.pass();
  ASSERT_EQ(cluster_.status("far").dataplane, "rules");
  const auto pods = std::exchange(cluster_.pods, {});
  cluster_.unseen_agents = {"agents in name space agents"};
  EXPECT_TRUE(is_quiet(cluster_.pass()));
  cluster_.pods = pods;
  cluster_.unseen_agents.clear();
  EXPECT_TRUE(is_quiet(cluster_.pass()));
}

TEST_F(DecisionTest, agents_that_stay_unseen_are_unknown_and_none_at_all_are_missing) {
  settle();
  cluster_.pods.clear();
  cluster_.unseen_agents = {"agents in name space agents"};
  cluster_.pass();
  cluster_.clock += 59s;
  EXPECT_TRUE(is_quiet(cluster_.pass())) << "a list that failed is asked for again by then";
  cluster_.clock += 1s;
  cluster_.pass();
  EXPECT_EQ(config_condition("Applied"), "Unknown AgentsUnseen");
  EXPECT_THAT(config_message("Applied"), HasSubstr("agents in name space agents cannot be seen"));
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "Unknown AgentsUnseen");
  EXPECT_THAT(cluster_.message("blue", "Programmed"), HasSubstr("agents in name space agents cannot be seen"));
  cluster_.unseen_agents.clear();
  cluster_.pass();
  EXPECT_EQ(config_condition("Applied"), "False AgentMissing");
}

TEST_F(DecisionTest, nodes_whose_agents_are_seen_at_last_have_their_time_to_do_it) {
  cluster_.pass();
  const auto pods = std::exchange(cluster_.pods, {});
  cluster_.unseen_agents = {"agents in name space agents"};
  cluster_.pass();
  cluster_.clock += 60s;
  cluster_.pass();
  cluster_.pods = pods;
  cluster_.unseen_agents.clear();
  cluster_.pass();
  EXPECT_EQ(config_condition("Applied"), "Unknown AgentsUnseen") << "it is too early to say who does not";
  cluster_.clock += 6s;
  cluster_.pass();
  EXPECT_EQ(config_condition("Applied"), "False NodesFailing");
}

// One of two name spaces with agents is not to be seen, say.
TEST_F(DecisionTest, agents_that_are_unseen_beside_others_are_told) {
  settle();
  const auto pods = cluster_.pods;
  cluster_.pods.pop_back();
  cluster_.unseen_agents = {"agents in name space x"};
  EXPECT_TRUE(is_quiet(cluster_.pass()));
  cluster_.clock += 60s;
  cluster_.pass();
  EXPECT_EQ(config_condition("Applied"), "True AllNodes");
  EXPECT_THAT(config_message("Applied"), HasSubstr("in force on 1 node; agents in name space x cannot be seen"));
  EXPECT_THAT(cluster_.message("blue", "Programmed"),
              HasSubstr("on all nodes that run an agent; agents in name space x cannot be seen"));
  cluster_.pods = pods;
  cluster_.pass();
  EXPECT_EQ(config_message("Applied"), "in force on 2 nodes") << "each node has one, so another would change nothing";
}

TEST_F(DecisionTest, a_report_that_cannot_be_read_hides_no_agent) {
  settle();
  cluster_.pods.clear();
  cluster_.unread_reports = {"report of node n3"};
  cluster_.pass();
  EXPECT_EQ(config_condition("Applied"), "False AgentMissing");
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "False AgentMissing");
}

TEST_F(DecisionTest, what_nodes_have_reported_stays_said_while_their_agents_are_not_seen) {
  settle();
  for (const auto* node : {"n1", "n2"}) facts(node).service_proxy = api::ServiceProxy::nftables;
  cluster_.pass();
  config().status.nodes = {{.node = "n1", .reason = "EmptyTable", .message = "", .last_transition = {}}};
  const auto told = config().status.nodes;
  cluster_.pods.clear();
  cluster_.unseen_agents = {"agents in name space agents"};
  cluster_.pass();
  cluster_.clock += 60s;
  cluster_.pass();
  EXPECT_EQ(config().status.nodes, told);
  ASSERT_EQ(cluster_.condition("blue", "Programmed"), "Unknown AgentsUnseen");
  EXPECT_EQ(cluster_.condition("blue", "RoutesMissing"), "False RoutesPresent");
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "False SourceNeverSeen");

  ++rule().meta.generation;  // What was said may not hold for what the IPRule asks now.
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "RoutesMissing"), "Unknown AgentsUnseen");
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "Unknown AgentsUnseen");
}

TEST_F(DecisionTest, S19_an_object_is_offered_applied_and_then_nothing_is_written) {
  const Decision first = cluster_.pass();
  EXPECT_EQ(first.states.size(), 2U);
  EXPECT_EQ(first.configs.size(), 1U);
  EXPECT_TRUE(first.rule_statuses.empty()) << "one write when it is done instead of two";
  EXPECT_TRUE(is_quiet(cluster_.pass()));
  cluster_.settle("n1");
  EXPECT_TRUE(is_quiet(cluster_.pass())) << "never for a single node";
  cluster_.settle("n2");
  const std::uint64_t epoch = api::epoch(config());
  const Decision last = cluster_.pass();
  ASSERT_EQ(last.config_statuses.size(), 1U);
  EXPECT_NE(last.config_statuses[0].wanted, nullptr) << "its Services hear of it";
  EXPECT_EQ(config_condition("Applied"), "True AllNodes");
  EXPECT_EQ(api::epoch(config()), epoch) << "a write of the status is no new order";
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "True AllNodes");
  EXPECT_EQ(cluster_.condition("blue", "Accepted"), "True Valid");
  EXPECT_EQ(cluster_.condition("blue", "Conflicted"), "False NoConflict");
  EXPECT_EQ(cluster_.status("blue").cidrs, std::vector<std::string>{"203.0.113.0/24"});
  EXPECT_EQ(cluster_.status("blue").configs, 1);
  EXPECT_TRUE(is_quiet(cluster_.pass()));
}

TEST_F(DecisionTest, S11_a_withdrawn_object_goes_with_the_last_acknowledgement) {
  settle();
  cluster_.wishes.forget_services();
  cluster_.pass();
  EXPECT_EQ(config().spec.state, api::ConfigState::absent);
  cluster_.settle("n1");
  cluster_.pass();
  EXPECT_EQ(cluster_.server.configs.size(), 1U);
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "False CleaningUp");
  cluster_.settle("n2");
  cluster_.pass();
  EXPECT_TRUE(cluster_.server.configs.empty());
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "False NoMatch");
}

TEST_F(DecisionTest, L5_a_silent_node_is_named_after_a_while_and_given_up_at_last) {
  settle();
  cluster_.wishes.forget_services();
  cluster_.pass();
  cluster_.settle("n1");
  EXPECT_EQ(cluster_.pass().pending_nodes, 1U);
  EXPECT_EQ(config_condition("CleanedUp"), "");
  cluster_.clock += 5s;
  cluster_.pass();
  EXPECT_EQ(config_condition("CleanedUp"), "False WaitingForNodes");
  EXPECT_THAT(meta::find(config().status.conditions, "CleanedUp")->message, HasSubstr("waiting for: n2"));
  cluster_.clock += 10min;
  const Decision last = cluster_.pass();
  EXPECT_EQ(last.given_up.at("iprc-10-96-0-1"), std::vector<std::string>{"n2"});
  EXPECT_TRUE(cluster_.server.configs.empty());
}

// It may be what an IPRule that cannot be read asks for.
TEST_F(DecisionTest, D6_one_set_absent_by_hand_is_not_withdrawn_while_its_reason_may_be_unread) {
  settle();
  config().spec.state = api::ConfigState::absent;
  cluster_.wishes.forget_services();
  cluster_.may_withdraw = false;
  EXPECT_TRUE(cluster_.pass().configs.empty());
  EXPECT_TRUE(config().meta.annotations.contains(api::kSpecHash)) << "so nodes keep it";
  cluster_.settle("n1", {{.uid = config().meta.uid, .reason = "HashMismatch", .message = "edited"}});
  cluster_.clock += 5s;
  EXPECT_EQ(cluster_.pass().pending_nodes, 0U);
  EXPECT_EQ(config_condition("CleanedUp"), "") << "nobody has told them to let go";
  cluster_.may_withdraw = true;
  cluster_.pass();
  EXPECT_FALSE(config().meta.annotations.contains(api::kSpecHash));
}

// As after a restart: what was read before is not known any more.
TEST_F(DecisionTest, fault_D10_an_address_of_an_IPRule_that_cannot_be_read_is_not_given_to_a_wider_one) {
  cluster_.wishes.rule("narrow", {"203.0.113.5/32"}, 200, 1000);
  rule().spec.priority = 900;
  settle();
  ASSERT_EQ(config().spec.table, 200U);
  cluster_.wishes.forget_rule("narrow");
  cluster_.may_withdraw = cluster_.may_replace = false;
  cluster_.wishes.service("new", {"10.96.0.2"}, {"203.0.113.6"});
  const Decision blind = cluster_.pass();
  ASSERT_EQ(blind.configs.size(), 1U) << "the address that only the wider one can mean is steered all the same";
  EXPECT_EQ(blind.configs[0].object.spec.service_ip, "10.96.0.2");
  cluster_.settle_all();
  cluster_.clock += 5s;
  cluster_.pass();
  EXPECT_EQ(cluster_.server.configs.size(), 2U);
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "False NotPublished");
  EXPECT_THAT(cluster_.message("blue", "Programmed"),
              HasSubstr("an IPRule that cannot be read may be the reason for what steers 10.96.0.1 now"));

  cluster_.may_withdraw = cluster_.may_replace = true;  // It has gone.
  cluster_.pass();
  cluster_.settle_all();
  cluster_.pass();
  EXPECT_EQ(cluster_.server.configs.size(), 2U);
  EXPECT_FALSE(cluster_.server.configs.contains("iprc-10-96-0-1")) << "the name is taken while the old one goes";
  EXPECT_EQ(cluster_.server.configs.at("iprc-10-96-0-1-t120-p900").spec.table, 120U);
}

TEST_F(DecisionTest, fault_D10_what_was_withdrawn_does_not_come_back_beside_what_an_unread_IPRule_may_ask_for) {
  settle();
  cluster_.wishes.rule("narrow", {"203.0.113.5/32"}, 200, 1600);
  cluster_.pass();
  ASSERT_EQ(config().spec.state, api::ConfigState::absent);
  cluster_.wishes.forget_rule("narrow");
  cluster_.may_withdraw = cluster_.may_replace = false;
  EXPECT_TRUE(cluster_.pass().configs.empty());
  cluster_.may_withdraw = cluster_.may_replace = true;
  cluster_.pass();
  EXPECT_EQ(config().spec.state, api::ConfigState::present);
}

TEST_F(DecisionTest, what_the_server_refuses_is_said_and_what_was_published_before_is_not_taken_for_it) {
  settle();
  ASSERT_EQ(cluster_.condition("blue", "Programmed"), "True AllNodes");
  rule().spec.table = 121;
  ++rule().meta.generation;
  const api::IPRuleConfig wanted = cluster_.decide().configs.at(0).object;
  cluster_.failed_writes = {{wanted.meta.name, {.asked = wanted.spec, .error = "exceeded quota"}}};
  EXPECT_TRUE(cluster_.decide().rule_statuses.empty()) << "it may pass";
  cluster_.clock += 5s;
  const Decision late = cluster_.decide();
  ASSERT_EQ(late.rule_statuses.size(), 1U);
  const auto* programmed = meta::find(late.rule_statuses[0].object.status.conditions, "Programmed");
  EXPECT_EQ(SmallCluster::describe(programmed), "False NotPublished");
  EXPECT_EQ(programmed->message,
            "1 of 1 object cannot be written, and until they can, nodes keep what they have: exceeded quota");

  cluster_.failed_writes.begin()->second.asked.table = 122;  // Under that name, and nobody asks for it any more.
  EXPECT_TRUE(cluster_.decide().rule_statuses.empty()) << "what is asked for now has not failed";

  cluster_.failed_writes.clear();
  settle();
  settle();
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "True AllNodes");
}

TEST_F(DecisionTest, what_nodes_hold_is_in_force_though_its_metadata_cannot_be_written) {
  settle();
  cluster_.wishes.rule("green", {"203.0.113.0/24"}, 120, 1500);
  const Decision first = cluster_.decide();
  ASSERT_EQ(first.configs.size(), 1U);
  ASSERT_EQ(first.configs[0].step, Write::Step::repair) << "one owner more";
  cluster_.failed_writes = {{config().meta.name, {.asked = config().spec, .error = "denied"}}};
  cluster_.pass();
  cluster_.clock += 5s;
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("green", "Programmed"), "True AllNodes");
}

TEST_F(DecisionTest, that_all_is_in_force_is_not_said_of_another_generation) {
  settle();
  const auto told_by_nodes_late = [&] {
    cluster_.pass();
    cluster_.clock += 3s;
    cluster_.pass();
    cluster_.clock += 2s;
    cluster_.pass();
    return cluster_.condition("blue", "Programmed");
  };
  cluster_.wishes.service("more", {"10.96.0.2"}, {"203.0.113.6"});
  EXPECT_EQ(told_by_nodes_late(), "True AllNodes") << "what was in force still is";
  settle();
  rule().spec.table = 121;
  ++rule().meta.generation;
  EXPECT_EQ(told_by_nodes_late(), "Unknown Progressing");
}

TEST_F(DecisionTest, what_was_said_stays_while_it_cannot_be_seen_who_is_asked) {
  settle();
  cluster_.pods.clear();
  cluster_.pass();
  ASSERT_EQ(cluster_.condition("blue", "Programmed"), "False AgentMissing");
  cluster_.unseen_agents = {"agents in name space agents"};
  EXPECT_TRUE(is_quiet(cluster_.pass()));
  cluster_.clock += 5s;
  EXPECT_TRUE(is_quiet(cluster_.pass())) << "nobody is being told anything";
  ++rule().meta.generation;
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "Unknown AgentsUnseen");
}

TEST_F(DecisionTest, that_nothing_matched_does_not_stay_said) {
  cluster_.wishes.forget_services();
  settle();
  ASSERT_EQ(cluster_.condition("blue", "Programmed"), "False NoMatch");
  cluster_.pods.clear();
  cluster_.unseen_agents = {"agents in name space agents"};
  cluster_.wishes.service("web", {"10.96.0.1"}, {"203.0.113.5"});
  cluster_.pass();
  cluster_.clock += 5s;
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "Unknown AgentsUnseen");
}

TEST_F(DecisionTest, the_epoch_is_recorded_before_metadata_is_written) {
  cluster_.pass();
  const std::uint64_t epoch = api::epoch(config());
  config().meta.annotations.set(api::kVipsAnnotation, "x");
  const Decision first = cluster_.pass();
  EXPECT_TRUE(first.configs.empty());
  EXPECT_EQ(first.config_statuses.size(), 1U);
  const Decision second = cluster_.pass();
  ASSERT_EQ(second.configs.size(), 1U);
  EXPECT_EQ(second.configs[0].step, Write::Step::repair);
  EXPECT_EQ(api::epoch(config()), epoch) << "nodes need not report again";
}

TEST_F(DecisionTest, D33_failing_nodes_are_named_with_their_reason) {
  cluster_.pass();
  cluster_.settle("n1");
  cluster_.settle("n2", {{.uid = config().meta.uid, .reason = "NotPermitted", .message = "no NET_ADMIN"}});
  cluster_.pass();
  EXPECT_EQ(config_condition("Applied"), "False NodesFailing");
  ASSERT_EQ(config().status.nodes.size(), 1U);
  EXPECT_EQ(config().status.nodes[0].node, "n2");
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "False NodesFailing");
  EXPECT_THAT(cluster_.message("blue", "Programmed"), HasSubstr("n2 (NotPermitted: no NET_ADMIN)"));
  EXPECT_TRUE(is_quiet(cluster_.pass()));
  cluster_.settle("n2");
  cluster_.pass();
  EXPECT_EQ(config_condition("Applied"), "True AllNodes");
  EXPECT_TRUE(config().status.nodes.empty());
}

TEST_F(DecisionTest, an_agent_that_is_not_ready_is_told_from_a_missing_one) {
  cluster_.pods.back().is_ready = false;
  cluster_.pass();
  cluster_.settle("n1");
  cluster_.clock += 5s;
  cluster_.pass();
  EXPECT_TRUE(is_quiet(cluster_.decide())) << "waits for its first report";
  cluster_.clock += 5s;
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "False AgentNotReady");

  cluster_.pods.clear();
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "False AgentMissing");
}

TEST_F(DecisionTest, D2_the_more_specific_rule_wins_and_the_other_counts_what_it_lost) {
  cluster_.wishes.rule("narrow", {"203.0.113.0/28"}, 200, 1500);
  settle();
  EXPECT_EQ(cluster_.status("narrow").matched_vips, 1);
  EXPECT_EQ(cluster_.status("blue").shadowed_vips, 1);
  EXPECT_EQ(cluster_.condition("blue", "Conflicted"), "False NoConflict");
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "False NoMatch");
  EXPECT_THAT(cluster_.message("blue", "Programmed"), HasSubstr("more specific"));
}

TEST_F(DecisionTest, D14_an_invalid_policy_says_so_at_once) {
  cluster_.wishes.rule("typo", {"192.168.1.10"}, 100);
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("typo", "Accepted"), "False InvalidCIDR");
  EXPECT_THAT(cluster_.message("typo", "Accepted"), HasSubstr("/32"));
  EXPECT_THAT(cluster_.message("typo", "Accepted"), HasSubstr("spec.cidrs[0]"));
}

TEST_F(DecisionTest, D24_a_table_of_0_is_refused_and_nothing_is_made_of_it) {
  cluster_.wishes.rule("zero", {"203.0.113.5/32"}, 0);
  settle();
  EXPECT_EQ(cluster_.condition("zero", "Accepted"), "False TableUnset");
  EXPECT_EQ(cluster_.status("zero").configs, 0);
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "True AllNodes");
}

TEST_F(DecisionTest, D49_an_object_of_others_is_mentioned_and_left_alone) {
  cluster_.server.configs["iprc-10-96-0-1"].meta.name = "iprc-10-96-0-1";
  settle();
  EXPECT_TRUE(cluster_.server.configs.contains("iprc-10-96-0-1-t120-p1500"));
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "True AllNodes");
  EXPECT_THAT(cluster_.message("blue", "Programmed"), HasSubstr("left alone: iprc-10-96-0-1"));
}

TEST_F(DecisionTest, D54_a_priority_after_main_is_programmed_and_warned_of) {
  rule().spec.priority = 40000;
  settle();
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "True AllNodes");
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "False PriorityAfterMain");
  EXPECT_THAT(cluster_.message("blue", "Accepted"), HasSubstr("priority 40000"));
}

TEST_F(DecisionTest, fault_D3_D4_numbers_of_others_are_accepted_with_a_word_about_their_owner) {
  rule().spec.priority = 100;
  rule().spec.table = 254;
  settle();
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "True AllNodes");
  EXPECT_EQ(cluster_.condition("blue", "Accepted"), "True Valid");
  EXPECT_THAT(cluster_.message("blue", "Accepted"),
              testing::EndsWith("priority 100; spec.priority: 100 is where Cilium keeps the rule for local, which it "
                                "moves from 0; spec.table: 254 is where the kernel keeps main (IPR0405)"));
}

TEST_F(DecisionTest, D55_a_table_without_routes_is_named_with_its_nodes) {
  settle();
  EXPECT_EQ(cluster_.condition("blue", "RoutesMissing"), "False RoutesPresent");
  cluster_.server.states.at("n2").status.empty_tables = {{.table = 120, .family = api::IPFamily::v6},
                                                         {.table = 7, .family = api::IPFamily::v4}};
  EXPECT_TRUE(is_quiet(cluster_.pass())) << "neither family nor table is in use";
  cluster_.server.states.at("n2").status.empty_tables.push_back({.table = 120, .family = api::IPFamily::v4});
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "RoutesMissing"), "True EmptyTable");
  EXPECT_THAT(cluster_.message("blue", "RoutesMissing"), HasSubstr("n2 (IPv4)"));
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "False RoutesMissing");
}

TEST_F(DecisionTest, whether_it_can_work_is_said_from_facts_and_never_guessed) {
  settle();
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "Unknown SourceNotObserved");
  facts("n1").service_proxy = api::ServiceProxy::nftables;
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "False SourceNeverSeen");
  EXPECT_THAT(cluster_.message("blue", "Effective"), HasSubstr("n1 (nftables)"));
  EXPECT_THAT(cluster_.message("blue", "Effective"), HasSubstr(R"(-p '{"spec":{"source":{"modes":["Reply"]}}}')"));

  rule().spec.source.modes = {api::SourceMode::reply};
  settle();
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "Unknown SourceNotObserved");
  EXPECT_THAT(cluster_.message("blue", "Effective"), HasSubstr("found on: n2."));
  facts("n2").service_proxy = api::ServiceProxy::ipvs;
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "True NothingInTheWay");
  facts("n2").conntrack = false;
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "False NoConntrack");
  facts("n2").conntrack = true;
  facts("n2").reverse_path_filter = {{.device = "eth1.7", .value = 1, .tables = {120}}};
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "False StrictReversePath");
  EXPECT_THAT(cluster_.message("blue", "Effective"), HasSubstr("eth1.7 on n2"));
  EXPECT_THAT(cluster_.message("blue", "Effective"), HasSubstr("sysctl -w net.ipv4.conf.eth1/7.rp_filter=2"));
}

TEST_F(DecisionTest, the_load_balancer_address_is_no_source_behind_kube_proxy) {
  using api::SourceMode;
  settle();
  for (const auto* node : {"n1", "n2"}) facts(node).service_proxy = api::ServiceProxy::iptables;
  rule().spec.source.modes = {SourceMode::cluster_ip, SourceMode::load_balancer_ip};
  settle();
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "False SourceNeverSeen");
  EXPECT_THAT(cluster_.message("blue", "Effective"), HasSubstr("ClusterIP, LoadBalancerIP"));
  EXPECT_THAT(cluster_.message("blue", "Effective"), HasSubstr("IPR0301"));

  rule().spec.source.modes = {SourceMode::load_balancer_ip, SourceMode::reply};
  settle();
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "True NothingInTheWay");
  EXPECT_THAT(cluster_.message("blue", "Effective"), HasSubstr("of no use: LoadBalancerIP on n1 (iptables)"));
}

TEST_F(DecisionTest, marks_are_in_force_for_sources_where_the_agent_orders_them) {
  settle();
  for (const auto* node : {"n1", "n2"}) {
    facts(node) = {.service_proxy = api::ServiceProxy::none,
                   .reverse_path_filter = {{.device = "eth1", .value = 1, .tables = {120}}}};
  }
  rule().spec.source.modes = {api::SourceMode::load_balancer_ip};
  settle();
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "Unknown SourceNotObserved");
  api::Agent agent;
  agent.spec.dataplane = api::Dataplane::marks;
  cluster_.agent = agent;
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "False StrictReversePath");
}

TEST_F(DecisionTest, the_table_of_a_vrf_is_the_one_that_each_node_says) {
  rule().spec.table = 0;
  rule().spec.vrf = "red";
  rule().spec.priority = 0;
  settle();
  api::NodeState::Status& status = cluster_.server.states.at("n2").status;
  status.empty_tables = {{.table = 77, .family = api::IPFamily::v4}};
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "RoutesMissing"), "False RoutesPresent") << "nobody says that it is the VRF's";
  status.facts.vrfs = {{.device = "red", .table = 77}};
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "RoutesMissing"), "True EmptyTable");
  EXPECT_THAT(cluster_.message("blue", "RoutesMissing"), HasSubstr("the table of VRF red has no route on: n2 (IPv4)"));
  EXPECT_THAT(cluster_.message("blue", "RoutesMissing"), HasSubstr("default via GATEWAY vrf red"));
  EXPECT_EQ(cluster_.condition("blue", "Effective"), "False RoutesMissing");
}

TEST_F(DecisionTest, a_vrf_behind_the_kernels_own_rule_is_accepted_with_a_warning) {
  rule().spec.table = 0;
  rule().spec.vrf = "red";
  rule().spec.priority = 0;
  settle();
  EXPECT_THAT(cluster_.message("blue", "Accepted"), testing::EndsWith("priority 999 (default)"));
  rule().spec.priority = 1000;
  settle();
  EXPECT_EQ(cluster_.condition("blue", "Accepted"), "True Valid");
  EXPECT_THAT(cluster_.message("blue", "Accepted"), HasSubstr("set spec.priority to 999 or less"));
}

TEST_F(DecisionTest, an_inert_field_of_the_first_generation_is_announced) {
  rule().spec.node_selector_label = "iprule.operator.brtrm.dev/enabled";
  settle();
  EXPECT_EQ(cluster_.condition("blue", "NodeSelectorLabelIgnored"), "True NoEffect");
  rule().spec.node_selector_label.clear();
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "NodeSelectorLabelIgnored"), "");
}

TEST_F(DecisionTest, a_rule_that_matches_nothing_names_the_nearest_address) {
  cluster_.wishes.rule("far", {"203.0.112.0/24"}, 5);
  cluster_.wishes.service("pending", {"10.96.0.2"}, {});
  cluster_.pass();
  EXPECT_EQ(cluster_.message("far", "Programmed"),
            "no load balancer address lies in the prefixes: 2 LoadBalancer Services, 1 address, 1 without an address "
            "yet, nearest 203.0.113.5; compare spec.cidrs with the addresses in: kubectl get services -A (IPR0402)");
}

TEST_F(DecisionTest, S16_nothing_is_withdrawn_while_something_cannot_be_read) {
  settle();
  cluster_.wishes.forget_services();
  const auto rules = cluster_.wishes.rules();
  const auto configs = values_of(cluster_.server.configs);
  const auto decision = decide(
      {.rules = rules, .services = {}, .slices = {}, .configs = configs, .may_withdraw = false}, cluster_.patience);
  EXPECT_TRUE(decision.configs.empty());
}

TEST_F(DecisionTest, D23_a_thousand_nodes_settle_without_a_write_for_each) {
  for (int i = 3; i <= 1000; ++i) cluster_.add_node("n" + std::to_string(i));
  settle();
  cluster_.wishes.forget_services();
  const Decision withdrawal = cluster_.pass();
  EXPECT_EQ(withdrawal.configs.size(), 1U);
  EXPECT_TRUE(withdrawal.states.empty());
  for (std::size_t i = 1; i < cluster_.nodes.size(); ++i) cluster_.settle(cluster_.nodes[i].meta.name);
  EXPECT_TRUE(cluster_.pass().configs.empty()) << "one is still missing";
  cluster_.settle("n1");
  const Decision removal = cluster_.pass();
  ASSERT_EQ(removal.configs.size(), 1U);
  EXPECT_EQ(removal.configs[0].step, Write::Step::remove);
  EXPECT_TRUE(removal.states.empty() && removal.config_statuses.empty());
}

TEST_F(DecisionTest, D9_a_view_that_lags_never_withdraws_what_is_desired) {
  settle();
  rule().spec.table = 200;
  const SmallServer stale = cluster_.server;
  cluster_.pass();  // The object for table 200 is there now; the next pass does not see it.
  const SmallServer now = std::exchange(cluster_.server, stale);
  const Decision blind = cluster_.decide();
  cluster_.server = now;
  for (const Write& write : blind.configs) cluster_.server.apply(write);
  const auto& wanted = cluster_.server.configs.at("iprc-10-96-0-1-t200-p1500");
  EXPECT_EQ(wanted.spec.state, api::ConfigState::present);
  EXPECT_EQ(wanted.meta.generation, 1) << "and nothing was written to it again";
}

TEST_F(DecisionTest, D18_a_removal_that_was_decided_before_the_object_returned_fails) {
  settle();
  cluster_.wishes.forget_services();
  cluster_.pass();
  cluster_.settle_all();
  const Decision removal = cluster_.decide();
  ASSERT_EQ(removal.configs.size(), 1U);
  ASSERT_EQ(removal.configs[0].step, Write::Step::remove);
  cluster_.wishes.service("web", {"10.96.0.1"}, {"203.0.113.5"});
  cluster_.pass();
  EXPECT_FALSE(cluster_.server.apply(removal.configs[0]));
  EXPECT_EQ(config().spec.state, api::ConfigState::present);
}

TEST_F(DecisionTest, D4_objects_that_were_collected_with_their_rule_leave_nothing_to_do) {
  settle();
  cluster_.wishes.forget_rule("blue");
  cluster_.server.configs.clear();  // The garbage collector was faster than any pass.
  EXPECT_TRUE(is_quiet(cluster_.pass()));
}

TEST_F(DecisionTest, a_transition_keeps_its_time_until_the_status_changes) {
  settle();
  const auto before = *meta::find(cluster_.status("blue").conditions, "Programmed");
  cluster_.clock += 1h;
  cluster_.wishes.service("more", {"10.96.0.9"}, {"203.0.113.9"});
  settle();
  const auto after = *meta::find(cluster_.status("blue").conditions, "Programmed");
  EXPECT_NE(after.message, before.message);
  EXPECT_EQ(after.last_transition, before.last_transition);
}

TEST_F(DecisionTest, a_table_without_routes_is_named_on_the_object_which_stays_in_force) {
  cluster_.pass();
  cluster_.server.states.at("n2").status.empty_tables = {{.table = 120, .family = api::IPFamily::v6},
                                                         {.table = 121, .family = api::IPFamily::v4}};
  cluster_.settle_all();
  cluster_.pass();
  EXPECT_TRUE(config().status.nodes.empty()) << "another family, another table";
  EXPECT_EQ(config_message("Applied"), "in force on 2 nodes");

  cluster_.server.states.at("n2").status.empty_tables = {{.table = 120, .family = api::IPFamily::v4}};
  cluster_.pass();
  EXPECT_EQ(config_condition("Applied"), "True AllNodes");
  EXPECT_EQ(config_message("Applied"), "in force on 2 nodes; no route on: n2 (IPR0311)");
  ASSERT_EQ(config().status.nodes.size(), 1U);
  EXPECT_EQ(config().status.nodes[0].node, "n2");
  EXPECT_EQ(config().status.nodes[0].reason, "EmptyTable");
  EXPECT_EQ(config().status.nodes[0].message, "table 120 has no route there");
}

TEST_F(DecisionTest, D55_the_table_of_a_reply_is_looked_for_too) {
  rule().spec.source.modes = {api::SourceMode::reply};
  settle();
  cluster_.server.states.at("n2").status.empty_tables = {{.table = 120, .family = api::IPFamily::v4}};
  cluster_.pass();
  const api::IPRuleConfig& reply = cluster_.server.configs.at("iprc-re-203-0-113-5");
  ASSERT_EQ(reply.spec.table, 0U);
  ASSERT_EQ(reply.status.nodes.size(), 1U);
  EXPECT_EQ(reply.status.nodes[0].message, "table 120 has no route there");
}

TEST_F(DecisionTest, D55_the_table_of_a_vrf_is_looked_for_where_the_node_has_it) {
  rule().spec.table = 0;
  rule().spec.vrf = "red";
  settle();
  for (const char* name : {"n1", "n2"}) {
    cluster_.server.states.at(name).status.empty_tables = {{.table = 77, .family = api::IPFamily::v4}};
  }
  cluster_.pass();
  EXPECT_TRUE(config().status.nodes.empty()) << "nobody says that it is the VRF's";
  cluster_.server.states.at("n2").status.facts.vrfs = {{.device = "red", .table = 77}};
  cluster_.pass();
  ASSERT_EQ(config().status.nodes.size(), 1U);
  EXPECT_EQ(config().status.nodes[0].node, "n2");
  EXPECT_EQ(config().status.nodes[0].message, "the table of VRF red has no route there");
}

TEST_F(DecisionTest, nodes_that_should_run_an_agent_and_do_not_are_named) {
  cluster_.agent.emplace().spec.node_selector.set("zone", "eu");
  cluster_.nodes.front().meta.labels.set("zone", "eu");
  for (const char* name : {"tainted", "elsewhere"}) {
    api::Node& node = cluster_.nodes.emplace_back();
    node.meta.name = name;
    node.meta.labels.set("zone", name == std::string("tainted") ? "eu" : "us");
  }
  cluster_.pass();
  cluster_.settle("n1");
  cluster_.settle("n2");
  cluster_.pass();
  EXPECT_EQ(config_message("Applied"), "in force on 2 nodes") << "it may only just have joined";
  cluster_.clock += 5s;
  cluster_.pass();
  EXPECT_EQ(config_condition("Applied"), "True AllNodes");
  EXPECT_THAT(config_message("Applied"), HasSubstr("in force on 2/3 nodes; no agent on: tainted ("));
  EXPECT_THAT(cluster_.message("blue", "Programmed"), HasSubstr("; no agent on: tainted ("));
}

// Somebody deletes it and makes it anew, say: no node is to change its marks and change them back.
TEST_F(DecisionTest, prefixes_that_an_Agent_adds_stay_while_there_is_none) {
  cluster_.agent.emplace().spec.cluster_cidrs = {"10.244.0.0/16"};
  settle();
  const auto agent = std::exchange(cluster_.agent, std::nullopt);
  EXPECT_TRUE(cluster_.pass().states.empty());
  cluster_.agent = agent;
  EXPECT_TRUE(cluster_.pass().states.empty());
  cluster_.agent->spec.cluster_cidrs = {"10.245.0.0/16"};
  EXPECT_EQ(cluster_.pass().states.size(), 2U) << "one that is there is obeyed";
}

TEST_F(DecisionTest, an_IPRule_that_fits_no_node_says_so) {
  rule().spec.node_selector.set("zone", "mars");
  cluster_.pass();
  cluster_.pass();
  EXPECT_EQ(cluster_.condition("blue", "Programmed"), "False NoMatchingNodes");
  EXPECT_EQ(cluster_.message("blue", "Programmed"),
            "no node has the labels zone=mars; label nodes, or change spec.nodeSelector of the IPRule (IPR0401)");
  EXPECT_EQ(config_condition("Applied"), "False NoMatchingNodes");
}

TEST_F(DecisionTest, a_service_counts_as_waiting_for_its_address_after_a_minute) {
  cluster_.wishes.forget_services();
  cluster_.wishes.service("slow", {"10.96.0.2"}, {}).meta.created = meta::Time(cluster_.clock);
  EXPECT_EQ(cluster_.pass().look_again, meta::Time(cluster_.clock + 60s));
  EXPECT_THAT(cluster_.message("blue", "Programmed"), testing::Not(HasSubstr("without an address yet")));
  cluster_.clock += 60s;
  EXPECT_EQ(cluster_.pass().look_again, meta::Time::max());
  EXPECT_THAT(cluster_.message("blue", "Programmed"), HasSubstr("1 without an address yet"));
}

}  // namespace
}  // namespace intent
