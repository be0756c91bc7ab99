#include "kube/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube {
namespace {

constexpr auto kOffer = R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[
  {"metadata":{"name":"apps"},"versions":[{"version":"v1","freshness":"Current","resources":[
    {"resource":"deployments","subresources":[{"subresource":"status"}]},{"resource":"daemonsets"}]}]},
  {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"},{"version":"v1",
    "freshness":"Current","resources":[]}]}]})";

TEST(Offer, says_which_kinds_are_there_and_of_which_the_server_does_not_know) {
  const auto offer = decode_offer(kOffer);
  ASSERT_TRUE(offer && *offer);
  const auto has = [&](const Resource& resource) { return (*offer)->has(resource); };
  EXPECT_EQ(has({"apps", "v1", "daemonsets", true}), true);
  EXPECT_EQ(has({"apps", "v1", "spoons", true}), false);
  EXPECT_EQ(has({"apps", "v2", "daemonsets", true}), false);
  EXPECT_EQ(has({"metrics.k8s.io", "v1", "pods", true}), false);
  EXPECT_EQ(has({"metrics.k8s.io", "v1beta1", "pods", true}).error().fault(), base::Fault::unavailable);
}

TEST(Offer, of_the_core_group_has_no_name) {
  const auto offer = decode_offer(R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[
    {"version":"v1","resources":[{"resource":"services"}],"freshness":"Current"}]}]})");
  ASSERT_TRUE(offer && *offer);
  EXPECT_EQ((*offer)->has({"", "v1", "services", true}), true);
}

TEST(Offer, an_old_servers_list_is_none_and_garbage_is_an_error) {
  EXPECT_EQ(decode_offer(R"({"kind":"APIGroupList","groups":[]})").value(), std::nullopt);
  EXPECT_FALSE(decode_offer("<html>"));
  EXPECT_FALSE(decode_offer(R"({"kind":"APIGroupDiscoveryList","items":[{"versions":[{}]}]})"));
}

}  // namespace
}  // namespace kube
