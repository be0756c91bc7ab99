#include <vector>

#include "agent/manifests.h"
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

std::vector<api::PublishedConfig> publish(const Manifests& manifests) {
  const auto rules = pointers(manifests.rules);
  const auto services = pointers(manifests.services);
  const auto nodes = pointers(manifests.nodes);
  const auto slices = pointers(manifests.slices);
  const auto desired =
      intent::desired_configs({.rules = rules, .services = services, .nodes = nodes, .slices = slices});
  std::vector<api::PublishedConfig> out;
  for (const intent::Write& write : intent::changes({}, desired, api::kDefaultPriority, intent::DirectRemoval(), {})) {
    out.push_back(api::published(write.object));
    out.back().uid = out.back().name;  // Nobody gives one out here, and names are unique.
  }
  return out;
}

}  // namespace agent
