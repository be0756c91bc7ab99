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

TEST(RolloutCauses, what_keeps_pods_from_running_is_named_by_node) {
  json::Reader reader;
  const auto list = reader.parse(R"({"items":[
      {"spec":{"nodeName":"n1"},"status":{"conditions":[{"type":"Ready","status":"True"}]}},
      {"spec":{"nodeName":"n2"},"status":{"containerStatuses":[
          {"state":{"waiting":{"reason":"CrashLoopBackOff"}}},
          {"state":{"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}}]}},
      {"spec":{"nodeName":"n3"},"status":{"containerStatuses":[
          {"state":{"waiting":{"reason":"CrashLoopBackOff"}},
           "lastState":{"terminated":{"reason":"Error","exitCode":1}}}]}},
      {"spec":{},"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}},
      {"spec":{"nodeName":"n5"},"status":{"conditions":[{"type":"Ready","status":"False"}],
          "containerStatuses":[{"ready":true}]}},
      {"spec":{"nodeName":"n6"},"status":{"containerStatuses":[
          {"state":{"waiting":{"reason":"ErrImagePull"}}}]}}]})");
  ASSERT_TRUE(list);
  EXPECT_EQ(causes_in(*list).value(), (PodCauses{.image_error = "n2: ImagePullBackOff: no such image",
                                                 .crashing = "n3: crashes: Error, exit code 1",
                                                 .no_place = "a node: has no place: Unschedulable",
                                                 .silent_node = "n5: its node gives no sign of life"}));
  EXPECT_EQ(causes_in(*reader.parse(R"({"items":[{"spec":{}}]})")).value(), PodCauses()) << "it may just be starting";
}

}  // namespace
}  // namespace controller
