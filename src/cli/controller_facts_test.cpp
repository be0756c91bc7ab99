#include "cli/controller_facts.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

TEST(ControllerSet, is_read_from_its_deployment) {
  json::Reader reader;
  const auto object = reader.parse(R"({"metadata":{"name":"manager","namespace":"system"},
      "spec":{"replicas":2,"template":{"spec":{"containers":[
          {"name":"proxy","image":"proxy:v9.9.9"},
          {"name":"manager","image":"registry:5000/iprule-controller:v0.3.0","args":["--x","--leader-elect"]}]}}},
      "status":{"readyReplicas":1}})");
  const auto set = decode_controller_set(*object);
  ASSERT_TRUE(set) << set.error().message();
  EXPECT_EQ(*set, (ControllerSet{
                      .ns = "system", .name = "manager", .version = "0.3.0", .wanted = 2, .ready = 1, .elects = true}));
}

TEST(ControllerSet, one_that_says_little_wants_one_and_has_none) {
  json::Reader reader;
  const auto set = decode_controller_set(*reader.parse(R"({"metadata":{"name":"manager"},"spec":{"template":{"spec":{
      "containers":[{"name":"manager","args":["-leader-elect=false"]}]}}}})"));
  ASSERT_TRUE(set) << set.error().message();
  EXPECT_EQ(*set, (ControllerSet{.name = "manager", .wanted = 1}));
}

}  // namespace
}  // namespace cli
