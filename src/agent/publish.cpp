#include <vector>

#include "agent/manifests.h"
#include "intent/cluster/active_agent.h"
#include "intent/cluster/changes.h"
#include "intent/cluster/desired.h"

namespace agent {
namespace {

template <typename T>
std::vector<const T*> pointers(const std::vector<T>& values) {
  std::vector<const T*> out;
  for (const T& value : values) out.push_back(&value);
  return out;
}

}  // namespace

const api::Agent* active_agent(const Manifests& manifests) {
  return intent::active_agent(pointers(manifests.agents), "");
}

std::uint32_t default_priority(const Manifests& manifests) {
  const api::Agent* agent = active_agent(manifests);
  return api::default_priority(agent != nullptr ? agent->spec : api::Agent::Spec());
}

std::vector<api::IPRuleConfig> objects_to_publish(const Manifests& manifests) {
  const auto rules = pointers(manifests.rules);
  const auto services = pointers(manifests.services);
  const auto nodes = pointers(manifests.nodes);
  const auto slices = pointers(manifests.slices);
  const std::uint32_t priority = default_priority(manifests);
  const auto desired = intent::desired_configs(
      {.rules = rules, .services = services, .nodes = nodes, .slices = slices, .default_priority = priority});
  std::vector<api::IPRuleConfig> out;
  for (const intent::Write& write : intent::changes({}, {}, desired, priority, intent::DirectRemoval(), {})) {
    out.push_back(write.object);
    out.back().meta.uid = out.back().meta.name;  // Nobody gives one out here, and names are unique.
  }
  return out;
}

std::vector<api::PublishedConfig> publish(const Manifests& manifests) {
  std::vector<api::PublishedConfig> out;
  for (const api::IPRuleConfig& object : objects_to_publish(manifests)) {
    out.push_back(api::published(object));
  }
  return out;
}

}  // namespace agent
