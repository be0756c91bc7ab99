#include "cli/node_wishes.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

net::Address ip(std::string_view text) {
  return net::Address::parse(text).value();
}

class NodeWishesTest : public testing::Test {
 protected:
  NodeWishesTest() {
    api::Node node;
    node.meta.name = "worker-1";
    node.meta.labels = {{"site", "eu"}};
    objects_.wanted.nodes = {node};
  }
  api::IPRule& rule(const std::string& name, meta::Labels selector = {}) {
    api::IPRule& out = objects_.wanted.rules.emplace_back();
    out.meta.name = name;
    out.spec.cidrs = {"203.0.113.0/24"};
    out.spec.table = 100;
    out.spec.node_selector = std::move(selector);
    out.status.matched_vips = 7;
    return out;
  }
  api::Service& service(std::string_view vip) {
    api::Service& out = objects_.wanted.services.emplace_back();
    out.is_load_balancer = true;
    out.vips = {ip(vip)};
    out.cluster_ips = {ip("10.96.23.17")};
    return out;
  }

  ClusterObjects objects_;
};

TEST_F(NodeWishesTest, are_those_of_the_IPRules_that_select_the_node) {
  rule("here", {{"site", "eu"}});
  rule("everywhere");
  rule("elsewhere", {{"site", "us"}});
  rule("wrong").spec.table = 0;
  const NodeWishes wishes = wishes_on(objects_, "worker-1");
  ASSERT_EQ(wishes.rules.size(), 2U);
  EXPECT_EQ(wishes.rules[0].meta.name, "everywhere");
  EXPECT_EQ(wishes.rules[1].meta.name, "here");
  EXPECT_EQ(wishes.rules[1].status, api::IPRule::Status()) << "which a node does not look at";
}

TEST_F(NodeWishesTest, addresses_that_are_steered_come_first) {
  rule("here");
  service("192.0.2.1");
  service("203.0.113.45");
  service("203.0.113.46").proxied_vips = {ip("203.0.113.46")};
  service("203.0.113.47").is_load_balancer = false;
  const auto frontends = frontends_in(objects_, objects_.wanted.rules);
  ASSERT_EQ(frontends.size(), 2U);
  EXPECT_EQ(frontends[0], (Frontend{.vip = ip("203.0.113.45"), .cluster_ips = {ip("10.96.23.17")}}));
  EXPECT_EQ(frontends[1].vip, ip("192.0.2.1"));
}

TEST_F(NodeWishesTest, travel_whole) {
  rule("here").spec.source.modes = {api::SourceMode::reply};
  service("203.0.113.45");
  objects_.wanted.agents.resize(1);
  objects_.wanted.agents[0].meta.name = "agent";
  objects_.wanted.agents[0].spec.dataplane = api::Dataplane::marks;
  objects_.wanted.agents[0].spec.default_priority = 900;
  NodeWishes wishes = wishes_on(objects_, "worker-1");
  wishes.frontends = frontends_in(objects_, wishes.rules);
  EXPECT_EQ(wishes.dataplane, api::Dataplane::marks);
  EXPECT_EQ(wishes.default_priority, 900U);
  json::Reader reader;
  const std::string text = json::object([&](json::Object& out) { put(out, wishes); });
  const auto there = decode_wishes(*reader.parse(text));
  ASSERT_TRUE(there) << there.error().message();
  EXPECT_EQ(*there, wishes);
}

}  // namespace
}  // namespace cli
