#include "agent/departure.h"

#include <fmt/format.h>

#include "intent/cluster/active_agent.h"
#include "meta/meta.h"

namespace agent {

std::optional<std::string> reason_to_purge(const Circumstances& circumstances) {
  if (!circumstances.agents) {
    if (circumstances.kind_is_gone) return "the API server no longer has the kind Agent";
    if (circumstances.saw_deletion) return "the Agent was deleted";
    return std::nullopt;
  }
  std::vector<const api::Agent*> all;
  for (const api::Agent& one : *circumstances.agents) all.push_back(&one);
  const api::Agent* active = intent::active_agent_by_status(all, circumstances.home);
  if (active == nullptr) return "there is no Agent";
  if (circumstances.labels && !active->spec.node_selector.matches(*circumstances.labels)) {
    return fmt::format("Agent {} does not select this node", meta::full_name(active->meta));
  }
  return std::nullopt;
}

}  // namespace agent
