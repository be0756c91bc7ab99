#include "intent/node/report.h"

#include <gtest/gtest.h>

namespace intent {
namespace {

using namespace std::chrono_literals;
using api::NodeState;

const meta::Time kNoon{1'000'000s};

NodeState::Status found(std::int32_t rules) {
  NodeState::Status out;
  out.token = "t";
  out.sync = api::Sync::in_sync;
  out.counts = api::NodeCounts{.rules = rules};
  out.conditions = {{.type = "Synced", .status = meta::Truth::yes, .reason = "InSync", .message = "as wanted"}};
  return out;
}

Progress at(std::uint64_t version, std::uint64_t largest_epoch) {
  return {.is_complete = true, .is_verified = true, .version = version, .largest_epoch = largest_epoch};
}

TEST(Report, S19_the_same_findings_later_are_no_news) {
  const auto first = next_status({}, found(1), at(9, 8), kNoon);
  EXPECT_EQ(first.settled.at(0).epoch, 9);
  EXPECT_EQ(first.changed, kNoon);
  EXPECT_EQ(next_status(first, found(1), at(9, 8), kNoon + 1h), first);
  EXPECT_EQ(next_status(first, found(1), at(50, 8), kNoon + 1h), first) << "bookmarks are no news either";
}

TEST(Report, a_node_without_objects_answers_its_token_too) {
  const auto first = next_status({}, found(0), at(7, 0), kNoon);
  EXPECT_EQ(first.token, "t");
  EXPECT_EQ(first.settled.at(0).epoch, 7);
}

TEST(Report, another_count_is_news_and_carries_the_newest_number) {
  const auto first = next_status({}, found(1), at(9, 8), kNoon);
  const auto second = next_status(first, found(2), at(50, 8), kNoon + 1h);
  EXPECT_EQ(second.settled.at(0).epoch, 50);
  EXPECT_EQ(second.changed, kNoon + 1h);
  EXPECT_EQ(second.conditions.at(0).last_transition, kNoon) << "the condition itself has not changed";
}

TEST(Report, S9_what_was_not_read_back_is_told_without_a_number) {
  const auto first = next_status({}, found(1), at(9, 8), kNoon);
  auto failing = found(1);
  failing.sync = api::Sync::failing;
  failing.conditions[0] = {.type = "Synced", .status = meta::Truth::no, .reason = "NotPermitted", .message = "EPERM"};
  Progress progress = at(50, 40);
  progress.is_verified = false;
  const auto second = next_status(first, failing, progress, kNoon + 1h);
  EXPECT_EQ(second.sync, api::Sync::failing);
  EXPECT_EQ(second.settled.at(0).epoch, 9);
  EXPECT_EQ(second.conditions.at(0).last_transition, kNoon + 1h);
}

TEST(Report, S9_without_a_number_failures_are_told_and_none_is_taken_back) {
  Progress progress = at(9, 8);
  progress.failed = {{.uid = "b", .reason = "RuleAddFailed"}};
  const auto first = next_status({}, found(1), progress, kNoon);
  progress = at(50, 40);
  progress.is_verified = false;
  progress.failed = {{.uid = "a", .reason = "RuleDeleteFailed"}};
  const auto second = next_status(first, found(1), progress, kNoon);
  const NodeState::Settled& settled = second.settled.at(0);
  EXPECT_EQ(settled.epoch, 9);
  EXPECT_EQ(settled.failed_count, 2);
  ASSERT_EQ(settled.failed.size(), 2U);
  EXPECT_EQ(settled.failed[0].uid, "a");
  EXPECT_EQ(settled.failed[1].uid, "b") << "it would count as settled up to 9";
  EXPECT_EQ(next_status(second, found(1), progress, kNoon + 1h), second) << "and stays no news";
  EXPECT_TRUE(next_status(second, found(1), at(51, 40), kNoon).settled.at(0).failed.empty());
}

TEST(Report, too_many_failures_stop_the_number_but_not_the_rest) {
  const auto first = next_status({}, found(1), at(9, 8), kNoon);
  Progress progress = at(50, 40);
  for (int i = 0; i < 101; ++i) progress.failed.push_back({.uid = std::to_string(i)});
  const auto second = next_status(first, found(2), progress, kNoon);
  EXPECT_EQ(second.settled.at(0).epoch, 9);
  EXPECT_EQ(second.settled.at(0).failed_count, 101);
  EXPECT_EQ(second.settled.at(0).failed.size(), NodeState::kMaxFailed);
  EXPECT_EQ(second.counts->rules, 2);
}

TEST(Report, long_texts_are_cut_to_what_the_schema_takes) {
  Progress progress = at(9, 8);
  progress.failed = {{.uid = "c", .reason = std::string(100, 'r'), .message = std::string(5000, 'm')}};
  const auto status = next_status({}, found(1), progress, kNoon);
  EXPECT_EQ(status.settled.at(0).failed.at(0).reason.size(), 64U);
  EXPECT_EQ(status.settled.at(0).failed.at(0).message.size(), 1024U);
  EXPECT_EQ(next_status(status, found(1), progress, kNoon), status) << "and stay no news";
}

}  // namespace
}  // namespace intent
