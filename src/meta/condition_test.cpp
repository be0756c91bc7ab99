#include "meta/condition.h"

#include <gtest/gtest.h>

namespace meta {
namespace {

Time at(int second) {
  return Time(std::chrono::seconds(second));
}

TEST(Condition, setting_it_again_changes_nothing) {
  std::vector<Condition> conditions;
  set(conditions, {.type = "Ready", .status = Truth::yes, .reason = "AllReady", .message = "all"}, at(10));
  const auto before = conditions;
  set(conditions, {.type = "Ready", .status = Truth::yes, .reason = "AllReady", .message = "all"}, at(20));
  EXPECT_EQ(conditions, before);
}

TEST(Condition, the_transition_time_follows_the_status_alone) {
  std::vector<Condition> conditions;
  set(conditions, {.type = "Ready", .status = Truth::yes, .reason = "AllReady"}, at(10));
  set(conditions, {.type = "Ready", .status = Truth::yes, .reason = "Other"}, at(20));
  EXPECT_EQ(find(conditions, "Ready")->last_transition, at(10));
  EXPECT_EQ(find(conditions, "Ready")->reason, "Other");
  set(conditions, {.type = "Ready", .status = Truth::no, .reason = "Other"}, at(30));
  EXPECT_EQ(find(conditions, "Ready")->last_transition, at(30));
  EXPECT_EQ(find(conditions, "Accepted"), nullptr);
}

TEST(Condition, what_is_written_can_be_read_again) {
  const std::vector<Condition> conditions = {{.type = "Ready",
                                              .status = Truth::no,
                                              .observed_generation = 4,
                                              .last_transition = at(1'000'000),
                                              .reason = "Progressing",
                                              .message = "1 of 2"}};
  const std::string text = json::object([&](json::Object& out) { encode_conditions(out, conditions); });
  json::Reader reader;
  EXPECT_EQ(decode_conditions(reader.parse(text).value()["conditions"]).value(), conditions);
}

}  // namespace
}  // namespace meta
