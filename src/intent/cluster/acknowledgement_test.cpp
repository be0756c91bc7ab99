#include "intent/cluster/acknowledgement.h"

#include <deque>

#include <gtest/gtest.h>

#include "api/kinds.h"
#include "intent/cluster/sample.h"
#include "intent/node/report.h"

namespace intent {
namespace {

using namespace std::chrono_literals;
using Settled = api::NodeState::Settled;

const meta::Time kSince{1'000'000s};

api::IPRuleConfig withdrawn(std::string version) {
  api::IPRuleConfig config;
  config.meta = {.name = "iprc-10-96-0-1", .uid = "c", .resource_version = std::move(version), .generation = 2};
  config.meta.annotations.set(api::kAbsentSince, meta::format_time(kSince));
  config.spec = {.service_ip = "10.96.0.1", .table = 100, .state = api::ConfigState::absent};
  return config;
}

api::NodeState report(std::string node, std::int64_t epoch, std::string token = "t") {
  api::NodeState state;
  state.meta.owners = {{.api_version = "v1", .kind = "Node", .name = node, .uid = "uid-" + node}};
  state.meta.name = std::move(node);
  state.spec.token = "t";
  state.status.token = std::move(token);
  state.status.settled = {{.kind = "IPRuleConfig", .epoch = epoch}};
  return state;
}

TEST(Acknowledgement, a_report_counts_from_the_objects_epoch_on) {
  EXPECT_FALSE(acknowledges(report("n1", 411), withdrawn("412")));
  EXPECT_TRUE(acknowledges(report("n1", 412), withdrawn("412")));
  EXPECT_TRUE(acknowledges(report("n1", 413), withdrawn("412")));
  EXPECT_FALSE(acknowledges({}, withdrawn("412")));
}

TEST(Acknowledgement, S10_a_report_under_another_token_never_counts) {
  EXPECT_FALSE(acknowledges(report("n1", 500, "old"), withdrawn("412")));
  api::NodeState state = report("n1", 500, "");
  state.spec.token = "";
  EXPECT_FALSE(acknowledges(state, withdrawn("412")));
}

TEST(Acknowledgement, what_failed_is_not_acknowledged_and_holds_up_nothing_else) {
  api::NodeState state = report("n1", 500);
  state.status.settled[0].failed = {{.uid = "c"}};
  EXPECT_FALSE(acknowledges(state, withdrawn("412")));
  state.status.settled[0].failed = {{.uid = "another"}};
  EXPECT_TRUE(acknowledges(state, withdrawn("412")));
}

TEST(Acknowledgement, D17_withdrawn_returned_and_withdrawn_again_are_three_epochs) {
  const api::NodeState state = report("n1", 412);
  EXPECT_TRUE(acknowledges(state, withdrawn("412")));
  EXPECT_FALSE(acknowledges(state, withdrawn("420")));
}

class Nodes {
 public:
  // A node with a running agent of ours, and its report.
  api::Pod& add(std::string name, std::int64_t epoch) {
    states_.push_back(report(name, epoch));
    return add_silent(std::move(name));
  }
  // A node whose agent has no report yet.
  api::Pod& add_silent(std::string name) {
    api::Node& node = nodes_.emplace_back();
    node.meta.name = name;
    node.meta.uid = "uid-" + name;
    api::Pod& pod = pods_.emplace_back();
    pod.node_name = std::move(name);
    pod.is_ready = pod.reports = true;
    return pod;
  }
  NodeReports reports() const {
    const auto nodes = Sample::pointers(nodes_);
    const auto pods = Sample::pointers(pods_);
    const auto states = Sample::pointers(states_);
    return NodeReports({.nodes = nodes,
                        .pods = pods,
                        .states = states,
                        .unseen_agents = unseen_agents,
                        .unread_reports = unread_reports});
  }
  std::vector<std::string> missing(const api::IPRuleConfig& config) const { return reports().missing(config); }
  bool is_settled(const api::IPRuleConfig& config, std::chrono::seconds after) const {
    return is_settled(config, after, after);
  }
  // `wall` after it was withdrawn, by the clock of the wall; `steady` after this process saw that first.
  bool is_settled(const api::IPRuleConfig& config, std::chrono::seconds wall, std::chrono::seconds steady) const {
    const NodeReports now = reports();
    Patience patience(5s);
    patience.begin_pass(base::TimePoint(1h));
    (void)AwaitNodes(now, patience, kSince, 600s).is_overdue(config);
    patience.begin_pass(base::TimePoint(1h + steady));
    return AwaitNodes(now, patience, kSince + wall, 600s).is_settled(config);
  }
  std::vector<std::string> not_applied(const api::IPRuleConfig& config) const {
    std::vector<std::string> out;
    const NodeReports now = reports();
    for (const Holder* holder : now.not_applied(config)) out.emplace_back(holder->name);
    return out;
  }
  api::NodeState& state(std::size_t n) { return states_.at(n); }
  api::Node& node(std::size_t n) { return nodes_.at(n); }
  void forget_pods() { pods_.clear(); }

  std::vector<std::string> unseen_agents;
  std::vector<std::string> unread_reports;

 private:
  std::deque<api::Node> nodes_;
  std::deque<api::Pod> pods_;
  std::deque<api::NodeState> states_;
};
using Names = std::vector<std::string>;

TEST(Acknowledgement, a_failure_of_another_generation_is_no_reason_and_no_acknowledgement_either) {
  Nodes nodes;
  nodes.add("n1", 500);
  nodes.state(0).status.settled[0].failed = {{.uid = "c", .generation = 1, .reason = "RuleAddFailed"}};
  const auto reason = [&] {
    const NodeReports now = nodes.reports();
    const auto* failed = failure_of(now.holders().front(), withdrawn("412"));
    return failed != nullptr ? failed->reason : "";
  };
  EXPECT_EQ(reason(), "");
  EXPECT_EQ(nodes.missing(withdrawn("412")), Names{"n1"});
  nodes.state(0).status.settled[0].failed[0].generation = 2;
  EXPECT_EQ(reason(), "RuleAddFailed");
  nodes.state(0).status.settled[0].epoch = 0;
  EXPECT_EQ(reason(), "RuleAddFailed") << "also of one that has not come so far as to state a number";
  nodes.state(0).status.token = "old";
  EXPECT_EQ(reason(), "");
}

TEST(Acknowledgement, S11_the_last_node_decides_and_the_missing_ones_are_named) {
  Nodes nodes;
  nodes.add("n2", 400);
  nodes.add("n1", 412);
  EXPECT_FALSE(nodes.is_settled(withdrawn("412"), 1s));
  EXPECT_EQ(nodes.missing(withdrawn("412")), Names{"n2"});
  EXPECT_TRUE(nodes.is_settled(withdrawn("400"), 1s));
}

TEST(Acknowledgement, D19_a_silent_node_is_not_waited_for_for_ever) {
  Nodes nodes;
  nodes.add("n1", 1);
  EXPECT_FALSE(nodes.is_settled(withdrawn("412"), 599s));
  EXPECT_TRUE(nodes.is_settled(withdrawn("412"), 600s));
  EXPECT_EQ(nodes.missing(withdrawn("412")), Names{"n1"});
}

TEST(Acknowledgement, S11_a_clock_that_is_set_deletes_nothing_early_and_nothing_never) {
  Nodes nodes;
  nodes.add("n1", 1);
  EXPECT_FALSE(nodes.is_settled(withdrawn("412"), 24h, 599s)) << "set forward by a day";
  EXPECT_FALSE(nodes.is_settled(withdrawn("412"), 24h, 0s)) << "a leader that has only just begun";
  EXPECT_FALSE(nodes.is_settled(withdrawn("412"), 599s, 24h)) << "a clock that is slow";
  EXPECT_FALSE(nodes.is_settled(withdrawn("412"), -24h, 599s)) << "set back by a day";
  EXPECT_TRUE(nodes.is_settled(withdrawn("412"), -24h, 600s));
}

TEST(Acknowledgement, S11_a_node_counts_from_its_first_agent_on_with_or_without_a_report) {
  Nodes nodes;
  nodes.add("n1", 500);
  nodes.add_silent("n2");
  EXPECT_EQ(nodes.missing(withdrawn("412")), Names{"n2"});
}

TEST(Acknowledgement, S12_a_node_counts_although_its_agent_has_gone) {
  Nodes nodes;
  nodes.add("n1", 400);
  nodes.forget_pods();
  EXPECT_EQ(nodes.missing(withdrawn("412")), Names{"n1"});
}

TEST(Acknowledgement, S16_agents_that_cannot_be_seen_and_reports_that_cannot_be_read_are_waited_for) {
  Nodes nodes;
  nodes.add("n1", 500);
  nodes.unread_reports = {"report of node n2"};
  EXPECT_EQ(nodes.missing(withdrawn("412")), nodes.unread_reports);
  nodes.unread_reports.clear();
  nodes.unseen_agents = {"agents in name space x"};
  EXPECT_EQ(nodes.missing(withdrawn("412")), nodes.unseen_agents);
  EXPECT_TRUE(nodes.is_settled(withdrawn("412"), 600s));
}

TEST(Acknowledgement, D17_an_agent_of_the_old_project_answers_by_annotation) {
  Nodes nodes;
  nodes.add_silent("n1").reports = false;
  auto config = withdrawn("412");
  EXPECT_EQ(nodes.missing(config), Names{"n1"});
  config.meta.annotations.set("cleanup.iprule.agent.brtrm.dev/n1", "done");
  EXPECT_EQ(nodes.missing(config), Names{});
}

TEST(Acknowledgement, D17_an_annotation_is_not_the_word_of_an_agent_that_reports) {
  Nodes nodes;
  nodes.add("n1", 400);
  nodes.add("n2", 400).reports = false;
  auto config = withdrawn("412");
  config.meta.annotations.set("cleanup.iprule.agent.brtrm.dev/n1", "done");
  config.meta.annotations.set("cleanup.iprule.agent.brtrm.dev/n2", "done");
  EXPECT_EQ(nodes.missing(config), Names{"n1"});
  nodes.forget_pods();
  EXPECT_EQ(nodes.missing(config), Names{}) << "an agent of the old project may have written it before it went";
}

TEST(Acknowledgement, old_agents_are_not_waited_for_where_they_skip_the_object) {
  Nodes nodes;
  nodes.add_silent("n1").reports = false;
  auto config = withdrawn("412");
  config.spec.table = 0;
  config.spec.route_table = 100;
  EXPECT_EQ(nodes.missing(config), Names{});
}

TEST(Acknowledgement, S10_present_counts_only_since_the_nodes_last_start) {
  Nodes nodes;
  nodes.add("n1", 500);
  nodes.node(0).boot_id = "second";
  nodes.state(0).status.boot_id = "first";
  auto present = withdrawn("412");
  present.spec.state = api::ConfigState::present;
  EXPECT_EQ(nodes.not_applied(present), Names{"n1"});
  EXPECT_EQ(nodes.missing(withdrawn("412")), Names{}) << "no start makes rules";
  nodes.state(0).status.boot_id = "second";
  EXPECT_EQ(nodes.not_applied(present), Names{});
}

TEST(Acknowledgement, a_present_object_is_asked_of_selected_nodes_with_an_agent_that_reports) {
  Nodes nodes;
  nodes.add("n1", 400);
  nodes.add("n2", 400);
  nodes.add("n3", 400).reports = false;
  auto present = withdrawn("412");
  present.spec.state = api::ConfigState::present;
  present.spec.node_selector = {{"uplink", "yes"}};
  nodes.node(0).meta.labels = nodes.node(2).meta.labels = {{"uplink", "yes"}};
  EXPECT_EQ(nodes.not_applied(present), Names{"n1"});
  nodes.forget_pods();
  EXPECT_EQ(nodes.not_applied(present), Names{});
}

TEST(Report, nothing_is_stated_that_was_not_read_back_from_a_complete_view) {
  const Settled last{.kind = "IPRuleConfig", .epoch = 5};
  EXPECT_EQ(next_report(last, {.is_complete = false, .is_verified = true, .version = 9, .largest_epoch = 8}), last);
  EXPECT_EQ(next_report(last, {.is_complete = true, .is_verified = false, .version = 9, .largest_epoch = 8}), last);
  EXPECT_EQ(next_report(last, {.is_complete = true, .is_verified = true, .version = 9, .largest_epoch = 8}).epoch, 9);
}

TEST(Report, S19_bookmarks_alone_cause_no_report) {
  const Settled last{.kind = "IPRuleConfig", .epoch = 9};
  EXPECT_EQ(next_report(last, {.is_complete = true, .is_verified = true, .version = 50, .largest_epoch = 8}), last);
}

TEST(Report, failures_are_listed_and_too_many_stop_the_number) {
  const Settled last{.kind = "IPRuleConfig", .epoch = 5};
  Progress progress{.is_complete = true, .is_verified = true, .version = 9, .largest_epoch = 8};
  progress.failed.push_back({.uid = "c", .reason = "NotPermitted"});
  const Settled one = next_report(last, progress);
  EXPECT_EQ(one.epoch, 9);
  EXPECT_EQ(one.failed_count, 1);
  EXPECT_EQ(next_report(one, progress), one);
  progress.failed.resize(101);
  const Settled many = next_report(last, progress);
  EXPECT_EQ(many.epoch, 5);
  EXPECT_EQ(many.failed_count, 101);
  EXPECT_EQ(many.failed.size(), 100U);
}

}  // namespace
}  // namespace intent
