#include "intent/cluster/acknowledgement.h"

#include <algorithm>
#include <string_view>

#include "api/kinds.h"
#include "api/published_config.h"

namespace intent {
namespace {

// The report's owner is the Node; if a Node of that UID is gone, its kernel is gone with it.
bool is_gone(const api::NodeState& state, std::span<const api::Node* const> nodes) {
  const auto owner = std::ranges::find(state.meta.owners, "Node", &meta::OwnerReference::kind);
  if (owner == state.meta.owners.end()) return false;
  return std::ranges::none_of(nodes, [&](const api::Node* node) { return node->meta.uid == owner->uid; });
}

}  // namespace

bool acknowledges(const api::NodeState& report, const api::IPRuleConfig& config) {
  const std::uint64_t wanted = api::epoch(config);
  if (wanted == 0 || report.spec.token.empty() || report.status.token != report.spec.token) return false;
  const auto settled =
      std::ranges::find(report.status.settled, api::IPRuleConfig::kKind, &api::NodeState::Settled::kind);
  if (settled == report.status.settled.end() || settled->epoch < 0) return false;
  if (static_cast<std::uint64_t>(settled->epoch) < wanted) return false;
  return std::ranges::find(settled->failed, config.meta.uid, &api::NodeState::Failed::uid) == settled->failed.end();
}

AwaitNodes::AwaitNodes(std::span<const api::NodeState* const> states, std::span<const api::Node* const> nodes,
                       meta::Time now, std::chrono::seconds timeout)
    : now_(now), timeout_(timeout) {
  for (const api::NodeState* state : states) {
    if (!is_gone(*state, nodes)) holders_.push_back(state);
  }
  std::ranges::sort(holders_, {}, [](const api::NodeState* state) -> std::string_view { return state->meta.name; });
}

std::vector<std::string> AwaitNodes::missing(const api::IPRuleConfig& withdrawn) const {
  std::vector<std::string> out;
  for (const api::NodeState* state : holders_) {
    if (!acknowledges(*state, withdrawn)) out.push_back(state->meta.name);
  }
  return out;
}

bool AwaitNodes::is_settled(const api::IPRuleConfig& withdrawn) const {
  const auto all = [&](const api::NodeState* state) { return acknowledges(*state, withdrawn); };
  if (std::ranges::all_of(holders_, all)) return true;
  const auto since = meta::parse_time(withdrawn.meta.annotations.get(api::kAbsentSince));
  return since && now_ - *since >= timeout_;
}

}  // namespace intent
