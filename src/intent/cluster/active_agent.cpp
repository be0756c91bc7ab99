#include "intent/cluster/active_agent.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

#include "meta/condition.h"

namespace intent {
namespace {

bool was_told_not_to_count(const api::Agent* agent) {
  const auto* ready = meta::find(agent->status.conditions, "Ready");
  return ready != nullptr && ready->reason == kInactiveInstance;
}

}  // namespace

const api::Agent* active_agent(std::span<const api::Agent* const> agents, std::string_view home) {
  const auto counts = [](const api::Agent* agent) {
    return !agent->meta.terminating() && (agent->meta.name == "agent" || agent->meta.name == "default");
  };
  const auto rank = [&](const api::Agent* agent) {
    return std::tuple(agent->meta.name != "agent", agent->meta.ns != home, std::string_view(agent->meta.ns));
  };
  std::vector<const api::Agent*> candidates;
  std::ranges::copy_if(agents, std::back_inserter(candidates), counts);
  const auto first = std::ranges::min_element(candidates, {}, rank);
  return first != candidates.end() ? *first : nullptr;
}

const api::Agent* active_agent_by_status(std::span<const api::Agent* const> agents, std::string_view home) {
  std::vector<const api::Agent*> others;
  std::ranges::remove_copy_if(agents, std::back_inserter(others), was_told_not_to_count);
  const api::Agent* out = active_agent(others, home);
  return out != nullptr ? out : active_agent(agents, home);
}

}  // namespace intent
