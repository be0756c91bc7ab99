#include "api/pod.h"

#include <gtest/gtest.h>

namespace api {
namespace {

Pod decode(std::string_view text) {
  json::Reader reader;
  return decode_pod(reader.parse(text).value()).value();
}

TEST(Pod, says_where_it_runs_and_whether_it_is_ready) {
  const Pod pod = decode(R"({"metadata":{"name":"p","namespace":"n","uid":"u",
      "labels":{"app":"iprule-agent","app.kubernetes.io/name":"ip-rule-operator"}},
      "spec":{"nodeName":"worker-1"},
      "status":{"phase":"Running","conditions":[{"type":"Initialized","status":"True"},
                                                {"type":"Ready","status":"True"}]}})");
  EXPECT_EQ(pod.node_name, "worker-1");
  EXPECT_TRUE(pod.is_ready);
  EXPECT_TRUE(pod.reports);
}

TEST(Pod, an_agent_of_the_old_project_is_told_by_its_labels) {
  const Pod pod = decode(R"({"metadata":{"name":"p","labels":{"app":"iprule-agent"}},"spec":{}})");
  EXPECT_FALSE(pod.reports);
  EXPECT_EQ(pod.node_name, "");
  EXPECT_FALSE(pod.is_ready);
}

TEST(Pod, what_does_not_concern_the_node_is_no_change) {
  const Pod pod = decode(R"({"metadata":{"name":"p","resourceVersion":"1"},"spec":{"nodeName":"a"}})");
  Pod later = pod;
  later.meta.resource_version = "2";
  EXPECT_TRUE(same_agent(pod, later));
  later.is_ready = true;
  EXPECT_FALSE(same_agent(pod, later));
}

}  // namespace
}  // namespace api
