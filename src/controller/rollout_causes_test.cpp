#include "controller/rollout_causes.h"

#include <gtest/gtest.h>

namespace controller {
namespace {

TEST(RolloutCauses, the_newest_refusal_of_this_daemon_set_counts) {
  json::Reader reader;
  const auto list = reader.parse(R"({"items":[
      {"involvedObject":{"uid":"old"},"lastTimestamp":"2026-01-03T00:00:00Z","message":"pods is forbidden: another set"},
      {"involvedObject":{"uid":"u"},"lastTimestamp":"2026-01-02T00:00:00Z","message":"pods is forbidden: newest"},
      {"involvedObject":{"uid":"u"},"lastTimestamp":"2026-01-01T00:00:00Z","message":"pods is forbidden: older"},
      {"involvedObject":{"uid":"u"},"lastTimestamp":"2026-01-04T00:00:00Z","message":"timed out"},
      {"involvedObject":{"uid":"u"},"lastTimestamp":"2026-01-05T00:00:00Z",
       "message":"pods is forbidden: error looking up service account"}]})");
  ASSERT_TRUE(list);
  EXPECT_EQ(forbidden_in(*list, "u").value(), "pods is forbidden: newest");
  EXPECT_EQ(forbidden_in(*list, "other").value(), std::nullopt);
}

TEST(RolloutCauses, a_pod_that_waits_for_its_image_is_named_by_its_node) {
  json::Reader reader;
  const auto list = reader.parse(R"({"items":[
      {"spec":{"nodeName":"n1"},"status":{"containerStatuses":[{"state":{"running":{}}}]}},
      {"spec":{"nodeName":"n2"},"status":{"containerStatuses":[
          {"state":{"waiting":{"reason":"CrashLoopBackOff"}}},
          {"state":{"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}}]}}]})");
  ASSERT_TRUE(list);
  EXPECT_EQ(image_error_in(*list).value(), "n2: ImagePullBackOff: no such image");
  EXPECT_EQ(image_error_in(*reader.parse(R"({"items":[{"spec":{}}]})")).value(), std::nullopt);
}

}  // namespace
}  // namespace controller
