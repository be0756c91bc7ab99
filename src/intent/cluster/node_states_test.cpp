#include "intent/cluster/node_states.h"

#include <deque>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "intent/cluster/sample.h"

namespace intent {
namespace {

using Texts = std::vector<std::string>;

class World {
 public:
  api::Node& node(std::string name, std::string uid) {
    api::Node& out = nodes_.emplace_back();
    out.meta.name = std::move(name);
    out.meta.uid = std::move(uid);
    return out;
  }
  void pod_on(std::string node) { pods_.emplace_back().node_name = std::move(node); }
  void forget_pods() { pods_.clear(); }
  void forget_nodes() { nodes_.clear(); }
  api::NodeState& state(std::size_t n = 0) { return states_.at(n); }

  std::vector<NodeStateWrite> decide() const {
    const auto nodes = Sample::pointers(nodes_);
    const auto pods = Sample::pointers(pods_);
    const auto states = Sample::pointers(states_);
    return node_state_changes(
        {.nodes = nodes, .pods = pods, .states = states, .unseen_agents = unseen_agents, .unread_reports = {}}, wishes);
  }
  // Does what is decided, as the server would.
  Texts pass() {
    Texts out;
    for (const NodeStateWrite& write : decide()) {
      const std::string& name = write.object.meta.name;
      out.push_back(std::string(text(write.step)) + " " + name);
      std::erase_if(states_, [&](const api::NodeState& state) { return state.meta.name == name; });
      if (write.step == NodeStateWrite::Step::create || write.step == NodeStateWrite::Step::update) {
        states_.push_back(write.object);
      }
    }
    return out;
  }

  NodeStateWishes wishes{.cluster_prefixes = {"10.0.0.0/8"}, .fresh_token = "t1", .distrusted = {}};
  Texts unseen_agents;

 private:
  std::deque<api::Node> nodes_;
  std::deque<api::Pod> pods_;
  std::deque<api::NodeState> states_;
};

TEST(NodeStates, a_report_comes_with_the_first_pod_bound_to_the_node) {
  World world;
  world.node("a", "uid-a");
  world.node("b", "uid-b");
  EXPECT_EQ(world.pass(), Texts{});
  world.pod_on("a");
  world.pod_on("");         // Not bound.
  world.pod_on("unknown");  // Its Node is not there yet.
  EXPECT_EQ(world.pass(), Texts{"create a"});
  EXPECT_EQ(world.state().spec.token, "t1");
  EXPECT_EQ(world.state().spec.cluster_prefixes, Texts{"10.0.0.0/8"});
  EXPECT_EQ(node_uid(world.state()), "uid-a");
  EXPECT_EQ(world.pass(), Texts{}) << "quiet when right";
}

TEST(NodeStates, it_goes_only_when_the_agent_holds_nothing_and_has_gone) {
  World world;
  world.node("a", "uid-a");
  world.pod_on("a");
  world.pass();
  world.forget_pods();
  EXPECT_EQ(world.pass(), Texts{}) << "a node that lost its agent still has its kernel";
  world.state().status.token = "t1";
  EXPECT_EQ(world.pass(), Texts{}) << "S12: it has answered, and still holds rules";
  world.state().status.token = "t0";
  world.state().status.holds_nothing = true;
  EXPECT_EQ(world.pass(), Texts{}) << "said under another token";
  world.state().status.token = "t1";
  world.unseen_agents = {"agents in name space x"};
  EXPECT_EQ(world.pass(), Texts{}) << "an agent may run unseen";
  world.unseen_agents.clear();
  EXPECT_EQ(world.pass(), Texts{"let go a"});
}

TEST(NodeStates, E1_it_goes_with_its_node_and_another_node_of_that_name_gets_its_own) {
  World world;
  world.node("a", "uid-a");
  world.pod_on("a");
  world.pass();
  world.forget_nodes();
  world.node("a", "uid-a2");
  EXPECT_EQ(world.pass(), Texts{"node gone a"});
  EXPECT_EQ(world.pass(), Texts{"create a"});
  EXPECT_EQ(node_uid(world.state()), "uid-a2");
}

TEST(NodeStates, B6_the_number_of_nodes_is_told_anew_only_when_it_has_doubled_or_halved) {
  World world;
  auto grow_to = [&, have = 0](int nodes) mutable {
    for (; have < nodes; ++have) world.node(fmt::format("node-{}", have), "uid");
  };
  grow_to(100);
  world.pod_on("node-0");
  world.pass();
  EXPECT_EQ(world.state().spec.nodes, 100);
  grow_to(201);
  EXPECT_EQ(world.pass(), Texts{}) << "nobody is written to for each node that comes";
  grow_to(202);
  EXPECT_EQ(world.pass(), Texts{"update node-0"});
  EXPECT_EQ(world.state().spec.nodes, 202);
  world.forget_nodes();
  world.node("node-0", "uid");
  world.pass();
  EXPECT_EQ(world.state().spec.nodes, 1);
}

TEST(NodeStates, prefixes_can_wait_and_what_a_node_is_to_answer_cannot) {
  World world;
  world.node("a", "uid-a");
  world.pod_on("a");
  EXPECT_FALSE(world.decide().at(0).can_wait);
  world.pass();
  world.wishes.cluster_prefixes = {"10.0.0.0/9"};
  EXPECT_TRUE(world.decide().at(0).can_wait);
  world.wishes.fresh_token = "t2";
  world.wishes.distrusted = {"a"};
  EXPECT_FALSE(world.decide().at(0).can_wait);
}

TEST(NodeStates, while_nobody_says_what_is_added_to_them_prefixes_stay_and_all_else_follows) {
  World world;
  world.node("a", "uid-a");
  world.pod_on("a");
  world.pass();
  world.node("b", "uid-b");
  world.pod_on("b");
  world.wishes = {
      .cluster_prefixes = {"10.0.0.0/9"}, .may_change_prefixes = false, .fresh_token = "t2", .distrusted = {}};
  EXPECT_EQ(world.pass(), Texts{"create b"});
  EXPECT_EQ(world.state(0).spec.cluster_prefixes, Texts{"10.0.0.0/8"});
  EXPECT_EQ(world.state(1).spec.cluster_prefixes, Texts{"10.0.0.0/9"}) << "those of nodes are better than none";
  world.wishes.distrusted = {"a"};
  EXPECT_EQ(world.pass(), Texts{"update a"});
  EXPECT_EQ(world.state(1).spec.token, "t2");
  EXPECT_EQ(world.state(1).spec.cluster_prefixes, Texts{"10.0.0.0/8"});
}

TEST(NodeStates, prefixes_follow_and_a_token_changes_only_where_it_must) {
  World world;
  world.node("a", "uid-a");
  world.pod_on("a");
  world.pass();
  world.wishes = {.cluster_prefixes = {"10.0.0.0/9"}, .fresh_token = "t2", .distrusted = {}};
  EXPECT_EQ(world.pass(), Texts{"update a"});
  EXPECT_EQ(world.state().spec.token, "t1");
  world.wishes.distrusted = {"a"};
  EXPECT_EQ(world.pass(), Texts{"update a"});
  EXPECT_EQ(world.state().spec.token, "t2");
}

}  // namespace
}  // namespace intent
