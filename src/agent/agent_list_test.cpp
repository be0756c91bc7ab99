#include "agent/agent_list.h"

#include <string>

#include <gtest/gtest.h>

namespace agent {
namespace {

std::string error(std::string_view body) {
  const auto list = decode_agent_list(body);
  return list ? "" : list.error().message();
}

TEST(AgentList, says_which_agents_there_are_and_as_of_when) {
  const auto list = decode_agent_list(R"({"kind":"AgentList","metadata":{"resourceVersion":"7"},"items":[
      {"metadata":{"name":"agent","namespace":"home"},"spec":{}}]})");
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_EQ(list->version, 7U);
  ASSERT_EQ(list->agents.size(), 1U);
  EXPECT_EQ(list->agents.front().meta.name, "agent");
  EXPECT_TRUE(
      decode_agent_list(R"({"kind":"AgentList","metadata":{"resourceVersion":"8"},"items":null})")->agents.empty());
}

TEST(AgentList, S24_what_is_no_whole_list_does_not_say_that_there_is_no_agent) {
  EXPECT_EQ(error(R"({})"), "kind: required, expected a string");
  EXPECT_EQ(error(R"({"kind":"Status","metadata":{},"status":"Success"})"), "kind: expected AgentList");
  EXPECT_EQ(error(R"({"kind":"AgentList","metadata":{},"items":null})"),
            "metadata.resourceVersion: required, expected a string");
  EXPECT_EQ(error(R"({"kind":"AgentList","metadata":{"resourceVersion":"7","continue":"more"},"items":[]})"),
            "metadata.continue: not the whole list");
  EXPECT_NE(error("<html>"), "");
}

}  // namespace
}  // namespace agent
