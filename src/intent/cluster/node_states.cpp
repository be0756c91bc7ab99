#include "intent/cluster/node_states.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace intent {
namespace {

using Step = NodeStateWrite::Step;

meta::OwnerReference owner_of(const api::Node& node) {
  return {.api_version = "v1", .kind = "Node", .name = node.meta.name, .uid = node.meta.uid};
}

// A number that is still about right stays: else each node that comes or goes would change the objects of all others.
std::int32_t about(std::int32_t have, std::size_t nodes) {
  const auto now = static_cast<std::int32_t>(nodes);
  return now < have / 2 || now / 2 > have || have == 0 ? now : have;
}

NodeStateWrite create(const api::Node& node, const NodeStateWishes& wishes, std::size_t nodes) {
  api::NodeState state;
  state.meta.name = node.meta.name;
  state.meta.owners = {owner_of(node)};
  state.spec = {.token = wishes.fresh_token, .cluster_prefixes = wishes.cluster_prefixes, .nodes = about(0, nodes)};
  return {.step = Step::create, .object = std::move(state)};
}

std::optional<NodeStateWrite> keep(const api::NodeState& have, const api::Node& node, const NodeStateWishes& wishes,
                                   std::size_t nodes) {
  api::NodeState right = have;
  if (wishes.may_change_prefixes) right.spec.cluster_prefixes = wishes.cluster_prefixes;
  right.spec.nodes = about(have.spec.nodes, nodes);
  const bool is_distrusted = std::ranges::find(wishes.distrusted, have.meta.name) != wishes.distrusted.end();
  if (right.spec.token.empty() || is_distrusted) right.spec.token = wishes.fresh_token;
  if (node_uid(have).empty()) right.meta.owners.push_back(owner_of(node));
  if (right == have) return std::nullopt;
  const bool can_wait = right.spec.token == have.spec.token && right.meta.owners == have.meta.owners;
  return NodeStateWrite{.step = Step::update, .object = std::move(right), .can_wait = can_wait};
}

}  // namespace

std::string_view text(Step step) {
  switch (step) {
    case Step::create:
      return "create";
    case Step::update:
      return "update";
    case Step::let_go:
      return "let go";
    case Step::node_gone:
      return "node gone";
  }
  return "node gone";
}

std::string_view node_uid(const api::NodeState& state) {
  const auto owner = std::ranges::find(state.meta.owners, "Node", &meta::OwnerReference::kind);
  return owner != state.meta.owners.end() ? std::string_view(owner->uid) : "";
}

bool is_answered(const api::NodeState& state) {
  return !state.spec.token.empty() && state.status.token == state.spec.token;
}

std::vector<NodeStateWrite> node_state_changes(const AgentPlaces& places, const NodeStateWishes& wishes) {
  std::map<std::string_view, const api::Node*> nodes;
  for (const api::Node* node : places.nodes) nodes[node->meta.name] = node;
  std::set<std::string_view> with_agent;
  for (const api::Pod* pod : places.pods) {
    if (!pod->node_name.empty()) with_agent.insert(pod->node_name);
  }

  std::vector<NodeStateWrite> out;
  std::set<std::string_view> taken;
  for (const api::NodeState* state : places.states) {
    taken.insert(state->meta.name);
    if (state->meta.terminating()) continue;
    const auto node = nodes.find(state->meta.name);
    const bool is_same_node =
        node != nodes.end() && (node_uid(*state).empty() || node_uid(*state) == node->second->meta.uid);
    if (!is_same_node) {
      out.push_back({.step = Step::node_gone, .object = *state});
    } else if (places.unseen_agents.empty() && !with_agent.contains(state->meta.name) && is_answered(*state) &&
               state->status.holds_nothing) {
      out.push_back({.step = Step::let_go, .object = *state});
    } else if (auto write = keep(*state, *node->second, wishes, nodes.size())) {
      out.push_back(*std::move(write));
    }
  }
  for (const std::string_view name : with_agent) {
    const auto node = nodes.find(name);
    if (node != nodes.end() && !taken.contains(name)) out.push_back(create(*node->second, wishes, nodes.size()));
  }
  std::ranges::sort(out, {}, [](const NodeStateWrite& write) { return std::string_view(write.object.meta.name); });
  return out;
}

}  // namespace intent
