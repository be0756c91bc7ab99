#include "kube/review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"

namespace api_test {
namespace {

class ReviewTest : public ApiTest {};

TEST_F(ReviewTest, we_learn_who_we_are) {
  const auto person = connect(cluster_.kubeconfig(cluster_.user("jane", {"people"})));
  const auto user = kube::who_am_i(*person, soon());
  ASSERT_OK(user);
  EXPECT_EQ(user->name, "jane");
  EXPECT_THAT(user->groups, testing::Contains("people"));
  EXPECT_EQ(user->node(), "");
}

TEST_F(ReviewTest, who_may_can_be_somebody_else) {
  auto config = must(kube::from_kubeconfig({cluster_.admin_kubeconfig()}, ""));
  config.impersonate = {.user = "jane",
                        .uid = "7",
                        .groups = {"people", "readers"},
                        .extra = {{"example.com/Reason", {"upgrade", "audit"}}}};
  const auto client = must(kube::Client::connect(config));
  const auto user = kube::who_am_i(*client, soon());
  ASSERT_OK(user);
  EXPECT_EQ(user->name, "jane");
  EXPECT_EQ(user->uid, "7");
  EXPECT_THAT(user->groups, testing::IsSupersetOf({"people", "readers"}));
  EXPECT_THAT(user->extra, testing::Contains(
                               testing::Pair("example.com/reason", testing::UnorderedElementsAre("upgrade", "audit"))));
  EXPECT_EQ(client->list(kNodes, {}, soon()).error().fault(), base::Fault::denied) << "with her rights, not ours";
}

TEST_F(ReviewTest, a_token_bound_to_a_pod_names_its_node) {
  ASSERT_OK(client_->create({"", "v1", "serviceaccounts", true}, ns_, R"({"metadata":{"name":"agent"}})", soon()));
  ASSERT_OK(client_->create(kNodes, "", R"({"metadata":{"name":"bound-node"}})", soon()));
  ASSERT_OK(client_->create({"", "v1", "pods", true}, ns_,
                            R"({"metadata":{"name":"agent-x"},"spec":{"nodeName":"bound-node",
                                "serviceAccountName":"agent","containers":[{"name":"a","image":"a"}]}})",
                            soon()));
  const auto token = cluster_.service_account(ns_, "agent", "agent-x");
  ASSERT_OK(token);
  const auto agent = connect(cluster_.kubeconfig(*token));
  const auto user = kube::who_am_i(*agent, soon());
  ASSERT_OK(user);
  EXPECT_EQ(user->node(), "bound-node");

  const auto reviewed = kube::review_token(*client_, token->token, soon());
  ASSERT_OK(reviewed);
  ASSERT_TRUE(*reviewed);
  EXPECT_EQ((*reviewed)->name, "system:serviceaccount:" + ns_ + ":agent");
  EXPECT_EQ((*reviewed)->node(), "bound-node");
}

TEST_F(ReviewTest, a_wrong_token_is_nobodys) {
  const auto reviewed = kube::review_token(*client_, "sesame", soon());
  ASSERT_OK(reviewed);
  EXPECT_FALSE(*reviewed);
}

TEST_F(ReviewTest, access_is_what_rbac_says) {
  const kube::PathAccess metrics{.verb = "get", .path = "/metrics"};
  const auto may = [&](const std::string& name, std::vector<std::string> groups) {
    return must(kube::is_allowed(*client_, {.name = name, .groups = std::move(groups)}, metrics, soon()));
  };
  EXPECT_TRUE(may("admin", {"system:masters"}));
  EXPECT_FALSE(may("scraper", {}));
}

}  // namespace
}  // namespace api_test
