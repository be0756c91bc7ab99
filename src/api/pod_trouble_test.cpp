#include "api/pod_trouble.h"

#include <gtest/gtest.h>

namespace api {
namespace {

using Kind = PodTrouble::Kind;

PodTrouble decode_trouble(std::string_view text) {
  json::Reader reader;
  return decode_pod_trouble(reader.parse(text).value()).value();
}

TEST(PodTrouble, a_ready_pod_has_none_whatever_it_went_through) {
  EXPECT_EQ(decode_trouble(R"({"status":{"conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[
                    {"ready":true,"lastState":{"terminated":{"exitCode":1}}}]}})"),
            PodTrouble());
}

TEST(PodTrouble, a_crash_is_told_by_how_it_ended_also_while_it_was_just_started_again) {
  const PodTrouble waits = decode_trouble(R"({"status":{
      "conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2026-01-01T00:00:00Z"}],
      "containerStatuses":[{"ready":false,
          "state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 40s restarting failed container"}},
          "lastState":{"terminated":{"reason":"Error","exitCode":1,"message":"starting\nno NET_ADMIN\n"}}}]}})");
  EXPECT_EQ(waits.kind, Kind::crashing);
  EXPECT_EQ(waits.text, "crashes: Error, exit code 1: no NET_ADMIN");
  EXPECT_EQ(meta::format_time(waits.since), "2026-01-01T00:00:00Z");
  const PodTrouble runs = decode_trouble(R"({"status":{
      "conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2026-01-01T00:00:00Z"}],
      "containerStatuses":[{"ready":false,"state":{"running":{}},
          "lastState":{"terminated":{"reason":"Error","exitCode":1,"message":"starting\nno NET_ADMIN\n"}}}]}})");
  EXPECT_EQ(runs, waits);
}

TEST(PodTrouble, a_pod_without_its_image_says_which) {
  const PodTrouble found = decode_trouble(R"({"status":{"containerStatuses":[
      {"state":{"waiting":{"reason":"CrashLoopBackOff"}}},
      {"state":{"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}}]}})");
  EXPECT_EQ(found.kind, Kind::no_image);
  EXPECT_EQ(found.text, "ImagePullBackOff: no such image");
}

TEST(PodTrouble, a_pod_without_a_place_says_what_the_scheduler_said) {
  const PodTrouble found = decode_trouble(R"({"status":{"phase":"Pending","conditions":[{"type":"PodScheduled",
      "status":"False","reason":"Unschedulable","message":"0/3 nodes are available: 3 Insufficient cpu."}]}})");
  EXPECT_EQ(found.kind, Kind::no_place);
  EXPECT_EQ(found.text, "has no place: Unschedulable: 0/3 nodes are available: 3 Insufficient cpu.");
}

TEST(PodTrouble, containers_that_were_well_in_a_pod_that_is_not_are_on_a_silent_node) {
  EXPECT_EQ(decode_trouble(R"({"status":{"conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[
                    {"ready":true,"state":{"running":{}}}]}})")
                .kind,
            Kind::silent_node);
  EXPECT_EQ(decode_trouble(R"({"status":{"conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[
                    {"ready":false,"state":{"running":{}}}]}})")
                .kind,
            Kind::starting);
  EXPECT_EQ(decode_trouble(R"({"spec":{}})").kind, Kind::starting);
}

TEST(PodTrouble, a_pod_that_waits_for_its_place_belongs_to_the_node_its_set_means) {
  json::Reader reader;
  const auto waits = reader.parse(R"({"spec":{"affinity":{"nodeAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[
          {"key":"metadata.name","operator":"In","values":["worker-3"]}]}]}}}}})");
  EXPECT_EQ(node_of_pod(*waits).value(), "worker-3");
  json::Reader other;
  EXPECT_EQ(node_of_pod(*other.parse(R"({"spec":{"nodeName":"worker-1"}})")).value(), "worker-1");
}

}  // namespace
}  // namespace api
