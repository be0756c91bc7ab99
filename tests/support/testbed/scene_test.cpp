#include "lab/scene.h"

#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lab/demonstration.h"
#include "lab/nft_commands.h"
#include "lab/service_proxy.h"
#include "lab/world.h"
#include "testbed/process.h"

namespace testbed {
namespace {

using namespace std::chrono_literals;
using lab::Scene;
using lab::SceneNode;
using lab::World;

void ip(const lab::Host& host, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "ip");
  const auto done = run({.arguments = std::move(arguments), .network = host.network()}, 10s);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_TRUE(done->exit.ok()) << done->errors;
}

// As an administrator would do it by hand.
base::Result<std::string> add_rules(Scene& scene) {
  for (const SceneNode& node : scene.nodes()) {
    ip(*node.host, {"rule", "add", "from", node.service[0].text(), "lookup", "100", "priority", "1000"});
    ip(*node.host, {"-6", "rule", "add", "from", node.service[1].text(), "lookup", "100", "priority", "1000"});
  }
  return "";
}

std::vector<lab::Act> before_and_after(std::function<base::Result<std::string>(Scene&)> cure) {
  return {{.what = "no rule", .expect = lab::Act::Expect::wrong}, {.what = "the cure", .prepare = std::move(cure)}};
}

class SceneTest : public testing::Test {
 protected:
  void build(int nodes) {
    auto world = World::make();
    ASSERT_TRUE(world) << world.error().message();
    world_.emplace(*std::move(world));
    auto scene = Scene::build(*world_, nodes);
    ASSERT_TRUE(scene) << scene.error().message();
    scene_ = *std::move(scene);
  }

  std::optional<World> world_;
  std::unique_ptr<Scene> scene_;
};

TEST_F(SceneTest, replies_take_the_wrong_uplink_until_a_rule_is_there) {
  build(1);
  const auto shown = demonstrate(*scene_, before_and_after(add_rules));
  ASSERT_TRUE(shown) << shown.error().message();
  EXPECT_TRUE(shown->as_expected) << format_table(shown->rows);
  EXPECT_EQ(shown->rows.size(), 2U);
}

TEST_F(SceneTest, without_a_cure_the_demonstration_is_not_right) {
  build(1);
  const auto shown = demonstrate(*scene_, before_and_after({}));
  ASSERT_TRUE(shown) << shown.error().message();
  EXPECT_FALSE(shown->as_expected);
  for (const lab::Row& row : shown->rows) EXPECT_EQ(row.verdict(), "wrong uplink");
}

TEST_F(SceneTest, a_cure_that_was_there_before_shows_nothing) {
  build(1);
  ASSERT_TRUE(add_rules(*scene_));
  const auto shown = demonstrate(*scene_, before_and_after({}));
  ASSERT_TRUE(shown) << shown.error().message();
  EXPECT_FALSE(shown->as_expected);
}

TEST_F(SceneTest, a_failing_cure_is_named) {
  build(1);
  const auto shown = demonstrate(*scene_, before_and_after([](Scene&) -> base::Result<std::string> {
    return base::fail(base::Fault::bug, "broken");
  }));
  ASSERT_FALSE(shown);
  EXPECT_EQ(shown.error().message(), "the cure: broken");
}

TEST_F(SceneTest, each_node_has_its_own_service_and_uplinks) {
  build(3);
  const SceneNode& second = scene_->nodes().at(1);
  ip(*second.host, {"rule", "add", "from", second.service[0].text(), "lookup", "100", "priority", "1000"});
  for (const SceneNode& node : scene_->nodes()) {
    const auto tally = scene_->send_requests(node, node.service[0], 5);
    ASSERT_TRUE(tally) << tally.error().message();
    EXPECT_EQ(tally->replies_out.eth1, node.name == "worker-2" ? 5 : 0) << node.name;
    EXPECT_EQ(tally->replies_out.total(), 5) << node.name;
  }
}

TEST_F(SceneTest, a_lost_uplink_means_no_reply_within_the_bound) {
  build(1);
  const SceneNode& node = scene_->nodes().front();
  ASSERT_TRUE(add_rules(*scene_));
  ip(*node.host, {"link", "set", "eth1", "down"});
  const auto tally = scene_->send_requests(node, node.service[0], 5, 200ms);
  ASSERT_TRUE(tally) << tally.error().message();
  EXPECT_EQ(tally->answered, 0);
  EXPECT_EQ(tally->replies_out.total(), 0);
}

// A node remembers for two minutes what it did not translate, by the client's port among others.
TEST_F(SceneTest, connections_that_failed_do_not_spoil_later_ones) {
  build(1);
  const SceneNode& node = scene_->nodes().front();
  ASSERT_TRUE(node.host->within([] {
    return lab::run_nft(
        "add table inet tracker\n"
        "add chain inet tracker seen { type filter hook prerouting priority 0; }\n"
        "add rule inet tracker seen ct state new counter\n");
  }));
  // So few that the kernel's own choice would meet the same ones again.
  ASSERT_TRUE(scene_->client().set_sysctl("net/ipv4/ip_local_port_range", "40000 40019"));
  for (const net::Address& vip : node.vip) EXPECT_EQ(scene_->open_connections(node, vip, 20, 50ms)->answered, 0);
  ASSERT_TRUE(lab::translate_vips(node));
  for (const net::Address& vip : node.vip) {
    EXPECT_EQ(scene_->open_connections(node, vip, 20)->replies_out.total(), 20) << vip.text();
  }
}

}  // namespace
}  // namespace testbed
