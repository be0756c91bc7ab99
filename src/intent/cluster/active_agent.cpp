#include "intent/cluster/active_agent.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace intent {

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

}  // namespace intent
