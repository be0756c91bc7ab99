#include "agent/node_settings.h"

#include <algorithm>

namespace agent {

NodeSettings settings_of(const Manifests& manifests, std::string_view node) {
  NodeSettings out;
  out.default_priority = default_priority(manifests);
  if (const api::Agent* agent = active_agent(manifests)) out.dataplane = agent->spec.dataplane;
  const auto named = [&](const api::Node& one) { return one.meta.name == node; };
  const auto found = std::ranges::find_if(manifests.nodes, named);
  if (found == manifests.nodes.end()) return out;
  out.labels = found->meta.labels;
  out.addresses = found->addresses;
  return out;
}

}  // namespace agent
