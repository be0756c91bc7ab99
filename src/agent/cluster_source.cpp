#include "agent/cluster_source.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "agent/wanted.h"
#include "api/kinds.h"

namespace agent {

ClusterSource::ClusterSource(kube::Client& client, std::string node, runtime::Signal& changed)
    : node_(std::move(node)),
      configs_(client,
               {.group = std::string(api::kGroup),
                .version = "v1alpha1",
                .plural = std::string(api::IPRuleConfig::kPlural),
                .namespaced = false},
               api::decode_iprule_config, changed,
               {.label_selector = fmt::format("{}={}", api::kManagedByLabel, api::kManagedByValue)}) {}

std::optional<Wanted> ClusterSource::latest() const {
  const auto view = configs_.latest();
  if (!view->complete) return std::nullopt;
  std::vector<const api::IPRuleConfig*> configs;
  for (const auto& object : view->objects) configs.push_back(&object->value);
  return Wanted{.state = rules_of(configs), .whole = view->unknown.empty()};
}

}  // namespace agent
