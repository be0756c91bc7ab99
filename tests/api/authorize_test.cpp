#include "kube/authorize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api.h"

namespace api_test {
namespace {

const kube::Resource kServiceAccounts{"", "v1", "serviceaccounts", true};
const kube::Resource kClusterRoles{"rbac.authorization.k8s.io", "v1", "clusterroles", false};
const kube::Resource kBindings{"rbac.authorization.k8s.io", "v1", "clusterrolebindings", false};

class AuthorizeTest : public ApiTest {
 protected:
  std::string token_of(const std::string& account) {
    must(client_->create(kServiceAccounts, ns_, fmt::format(R"({{"metadata":{{"name":"{}"}}}})", account), soon()));
    return must(cluster_.service_account(ns_, account)).token;
  }
  // As a Pod gets one for a service that it logs in at.
  std::string token_for(const std::string& account, const std::string& audience) {
    const auto answer =
        client_->send({.method = "POST",
                       .target = fmt::format("/api/v1/namespaces/{}/serviceaccounts/{}/token", ns_, account),
                       .headers = {{"content-type", "application/json"}},
                       .body = fmt::format(R"({{"spec":{{"audiences":["{}"]}}}})", audience)},
                      soon());
    return at(must(answer).body, "status", "token");
  }
  void allow_metrics(const std::string& account) {
    must(client_->create(kClusterRoles, "",
                         fmt::format(R"({{"metadata":{{"name":"{}"}},"rules":[
        {{"nonResourceURLs":["/metrics"],"verbs":["get"]}}]}})",
                                     ns_),
                         soon()));
    must(client_->create(kBindings, "",
                         fmt::format(R"({{"metadata":{{"name":"{0}"}},
        "roleRef":{{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"{0}"}},
        "subjects":[{{"kind":"ServiceAccount","name":"{1}","namespace":"{0}"}}]}})",
                                     ns_, account),
                         soon()));
  }
  static int status(const http::Handler& handler, const std::string& authorization) {
    http::Request request{.method = "GET", .target = "/metrics?x=1", .headers = {}, .body = {}};
    if (!authorization.empty()) request.headers.push_back({"authorization", authorization});
    return handler(request).status;
  }
};

TEST_F(AuthorizeTest, only_a_caller_with_the_right_gets_the_data) {
  const std::string reader = token_of("reader");
  const std::string stranger = token_of("stranger");
  allow_metrics("reader");
  kube::Authorizer authorizer(*client_);
  const http::Handler metrics = authorizer.protect([](const http::Request&) { return http::plain_text(200, "data"); });
  EXPECT_TRUE(testbed::eventually("the binding counts", kBound, [&] {
    return must(kube::Authorizer(*client_).judge(reader, {.verb = "get", .path = "/metrics"})) ==
           kube::Verdict::allowed;
  }));
  EXPECT_EQ(status(metrics, "Bearer " + reader), 200);
  EXPECT_EQ(status(metrics, "bearer " + reader), 200);
  EXPECT_EQ(status(metrics, "Bearer " + stranger), 403);
  EXPECT_EQ(status(metrics, "Bearer nonsense"), 401);
  EXPECT_EQ(status(metrics, "Basic " + reader), 401);
  EXPECT_EQ(status(metrics, "Bearer "), 401);
  EXPECT_EQ(status(metrics, ""), 401);
  EXPECT_EQ(must(authorizer.judge(reader, {.verb = "get", .path = "/debug"})), kube::Verdict::forbidden);
}

TEST_F(AuthorizeTest, a_token_for_another_audience_is_worth_nothing_here_nor_at_the_server) {
  const std::string ours = token_of("reader");
  const std::string elsewhere = token_for("reader", "https://vault.example");
  ASSERT_FALSE(elsewhere.empty());
  allow_metrics("reader");
  kube::Authorizer authorizer(*client_);
  const http::Handler metrics = authorizer.protect([](const http::Request&) { return http::plain_text(200, "data"); });
  EXPECT_TRUE(testbed::eventually("the binding counts", kBound, [&] {
    return must(kube::Authorizer(*client_).judge(ours, {.verb = "get", .path = "/metrics"})) == kube::Verdict::allowed;
  }));
  EXPECT_EQ(status(metrics, "Bearer " + ours), 200);
  EXPECT_EQ(status(metrics, "Bearer " + elsewhere), 401);

  const auto stranger = connect(cluster_.kubeconfig({.token = elsewhere}));
  const auto refused = stranger->send({.method = "GET", .target = "/metrics"}, soon());
  ASSERT_FALSE(refused);
  ASSERT_TRUE(refused.error().status);
  EXPECT_EQ(refused.error().status->code, 401);
}

TEST_F(AuthorizeTest, verdicts_are_remembered_but_not_those_that_never_came) {
  const std::string stranger = token_of("stranger");
  kube::Authorizer authorizer(*client_);
  EXPECT_EQ(must(authorizer.judge(stranger, {.verb = "get", .path = "/metrics"})), kube::Verdict::forbidden);
  std::stop_source no_patience;
  no_patience.request_stop();
  cluster_.api_server().freeze();
  const auto known = authorizer.judge(stranger, {.verb = "get", .path = "/metrics"}, no_patience.get_token());
  const auto unknown = authorizer.judge(stranger, {.verb = "get", .path = "/other"}, no_patience.get_token());
  cluster_.api_server().thaw();
  EXPECT_EQ(must(known), kube::Verdict::forbidden);
  EXPECT_FALSE(unknown);
  EXPECT_EQ(must(authorizer.judge(stranger, {.verb = "get", .path = "/other"})), kube::Verdict::forbidden);
}

TEST_F(AuthorizeTest, callers_take_no_turns_of_the_client) {
  const auto slow = client_->beside({.rate = 1.0 / 3600, .burst = 1});
  kube::Authorizer authorizer(*slow);
  for (const char* caller : {"a", "b", "c"}) {
    EXPECT_EQ(must(authorizer.judge(caller, {.verb = "get", .path = "/metrics"})), kube::Verdict::unknown_caller);
  }
  ASSERT_OK(slow->list(kConfigMaps, {.selection = {.ns = ns_}}, soon()));  // The one turn it has is still there.
}

}  // namespace
}  // namespace api_test
