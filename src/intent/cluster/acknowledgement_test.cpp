#include "intent/cluster/acknowledgement.h"

#include <gtest/gtest.h>

#include "api/kinds.h"
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

TEST(Acknowledgement, S11_the_last_node_decides_and_the_missing_ones_are_named) {
  const api::NodeState first = report("n1", 412);
  const api::NodeState second = report("n2", 400);
  api::Node one, two;
  one.meta.uid = "uid-n1", two.meta.uid = "uid-n2";
  const std::vector<const api::NodeState*> states = {&second, &first};
  const std::vector<const api::Node*> nodes = {&one, &two};
  const AwaitNodes removal(states, nodes, kSince + 1s, 600s);
  EXPECT_FALSE(removal.is_settled(withdrawn("412")));
  EXPECT_EQ(removal.missing(withdrawn("412")), std::vector<std::string>{"n2"});
  EXPECT_TRUE(removal.is_settled(withdrawn("400")));
}

TEST(Acknowledgement, D19_a_node_that_is_gone_is_not_waited_for_and_a_silent_one_not_for_ever) {
  const api::NodeState gone = report("n1", 1);
  const api::NodeState silent = report("n2", 1);
  api::Node two;
  two.meta.uid = "uid-n2";
  const std::vector<const api::Node*> nodes = {&two};
  const std::vector<const api::NodeState*> only_gone = {&gone};
  EXPECT_TRUE(AwaitNodes(only_gone, nodes, kSince, 600s).is_settled(withdrawn("412")));
  const std::vector<const api::NodeState*> both = {&gone, &silent};
  EXPECT_FALSE(AwaitNodes(both, nodes, kSince + 599s, 600s).is_settled(withdrawn("412")));
  EXPECT_TRUE(AwaitNodes(both, nodes, kSince + 600s, 600s).is_settled(withdrawn("412")));
  EXPECT_EQ(AwaitNodes(both, nodes, kSince, 600s).missing(withdrawn("412")), std::vector<std::string>{"n2"});
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
