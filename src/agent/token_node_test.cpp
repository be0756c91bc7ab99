#include "agent/token_node.h"

#include <gtest/gtest.h>

namespace agent {
namespace {

kube::User bound_to(std::string node) {
  return {.name = "system:serviceaccount:iprule:iprule-agent",
          .uid = {},
          .groups = {},
          .extra = {{"authentication.kubernetes.io/node-name", {std::move(node)}}}};
}

kube::Error refused(int code) {
  return kube::error_of(
      kube::ServerStatus{.code = code, .reason = {}, .message = "no", .causes = {}, .retry_after = {}});
}

TEST(TokenNode, E2_the_token_of_another_node_is_told_and_nothing_may_be_done) {
  const auto verdict = judge(bound_to("worker-2"), "worker-1");
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->may_act);
  ASSERT_TRUE(verdict->trouble);
  EXPECT_TRUE(verdict->trouble->starts_with("WrongNode: ")) << *verdict->trouble;
  EXPECT_TRUE(verdict->trouble->contains("worker-2")) << *verdict->trouble;
}

TEST(TokenNode, E2_the_own_node_and_a_login_without_one_go_on) {
  EXPECT_TRUE(judge(bound_to("worker-1"), "worker-1")->may_act);
  EXPECT_TRUE(judge(kube::User{}, "worker-1")->may_act);
}

TEST(TokenNode, E2_a_server_that_knows_no_answer_is_no_reason_to_wait_and_one_that_gives_none_is) {
  EXPECT_TRUE(judge(std::unexpected(refused(404)), "worker-1")->may_act);
  EXPECT_TRUE(judge(std::unexpected(refused(403)), "worker-1")->may_act);
  EXPECT_FALSE(judge(std::unexpected(refused(401)), "worker-1"));
  EXPECT_FALSE(judge(std::unexpected(refused(503)), "worker-1"));
  EXPECT_FALSE(judge(std::unexpected(kube::Error(base::Error(base::Fault::timeout, "no answer"))), "worker-1"));
}

}  // namespace
}  // namespace agent
