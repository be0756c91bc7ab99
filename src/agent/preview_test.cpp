#include "agent/preview.h"

#include <gtest/gtest.h>

#include "agent/node_settings.h"

namespace agent {
namespace {

Manifests manifests(std::string_view text) {
  Manifests out;
  const auto added = add_manifests(out, "x.yaml", text);
  EXPECT_TRUE(added) << added.error().message();
  return out;
}

constexpr std::string_view kShop =
    "kind: IPRule\nmetadata: {name: public}\nspec: {cidrs: [203.0.113.0/24], table: 100, priority: 1000}\n"
    "---\nkind: Service\nmetadata: {name: frontend, namespace: shop}\n"
    "spec: {type: LoadBalancer, clusterIPs: [10.96.23.17]}\n"
    "status: {loadBalancer: {ingress: [{ip: 203.0.113.45}]}}\n";

TEST(Preview, is_what_the_manifests_alone_would_come_to) {
  const state::Verified seen{
      .state = {.rules = {state::parse_rule(net::Family::v4, "7: from 10.1.1.1 lookup 7 proto 183").value(),
                          state::parse_rule(net::Family::v4, "8: from 10.1.1.2 lookup 8").value()}}};
  EXPECT_EQ(plan::text(preview(manifests(kShop), "worker-1", {}, seen, {}).todo),
            "add IPv4 rule 1000: from 10.96.23.17 lookup 100 proto 183\n"
            "remove IPv4 rule 7: from 10.1.1.1 lookup 7 proto 183\n");
}

TEST(Preview, of_what_is_there_already_is_empty) {
  const state::Verified seen{
      .state = {.rules = {state::parse_rule(net::Family::v4, "1000: from 10.96.23.17 lookup 100 proto 183").value()}}};
  EXPECT_TRUE(preview(manifests(kShop), "worker-1", {}, seen, {}).todo.empty());
}

// An Agent says of a folder's host what it says of a cluster's nodes.
TEST(Preview, follows_the_settings_of_an_agent_in_the_folder) {
  const Manifests with_agent = manifests(
      "kind: Agent\nmetadata: {name: agent, namespace: net}\nspec: {defaultPriority: 900, dataplane: marks}\n"
      "---\nkind: IPRule\nmetadata: {name: public}\nspec: {cidrs: [203.0.113.0/24], table: 100}\n"
      "---\nkind: Service\nmetadata: {name: frontend, namespace: shop}\n"
      "spec: {type: LoadBalancer, clusterIPs: [10.96.23.17]}\n"
      "status: {loadBalancer: {ingress: [{ip: 203.0.113.45}]}}\n");
  const NodeSettings settings = settings_of(with_agent, "worker-1");
  EXPECT_EQ(settings.default_priority, 900U);
  EXPECT_EQ(settings.dataplane, api::Dataplane::marks);
  const std::string plan = plan::text(preview(with_agent, "worker-1", settings, state::Verified(), {}).todo);
  EXPECT_NE(plan.find("rule 900: from all fwmark"), std::string::npos) << plan;
  EXPECT_NE(plan.find("element src4 10.96.23.17"), std::string::npos) << plan;
}

TEST(Preview, says_when_the_node_was_not_seen_whole) {
  EXPECT_EQ(preview(manifests(kShop), "worker-1", {}, state::Verified(), {}).doubt, "");
  EXPECT_EQ(preview(manifests(kShop), "worker-1", {}, state::Unverified{.state = {}, .reason = "nft: EPERM"}, {}).doubt,
            "nft: EPERM");
}

TEST(Preview, names_what_would_not_be_programmed) {
  state::NodeFacts facts;
  facts.own = facts.bound = {net::Address::parse("10.96.23.17").value()};
  const Preview shown = preview(manifests(kShop), "worker-1", {}, state::Verified(), facts);
  EXPECT_TRUE(shown.todo.empty());
  ASSERT_EQ(shown.skipped.size(), 1U);
  EXPECT_NE(shown.skipped[0].find("ProtectedSource"), std::string::npos) << shown.skipped[0];
}

}  // namespace
}  // namespace agent
