#include "agent/cluster_source.h"

#include <vector>

#include <fmt/format.h>

#include "api/iprule_config.h"
#include "api/kinds.h"

namespace agent {
namespace {

kube::Resource published_configs() {
  return {.group = std::string(api::kGroup),
          .version = std::string(api::kVersion),
          .plural = std::string(api::IPRuleConfig::kPlural),
          .namespaced = false};
}

kube::Resource nodes() {
  return {.group = "", .version = "v1", .plural = "nodes", .namespaced = false};
}

}  // namespace

ClusterSource::ClusterSource(kube::Client& client, const std::string& node, runtime::Signal& changed)
    : compiler_(node),
      configs_(client, published_configs(), api::decode_published_config, changed,
               {.label_selector = fmt::format("{}={}", api::kManagedByLabel, api::kManagedByValue)}),
      node_(client, nodes(), api::decode_node, changed, {.field_selector = "metadata.name=" + node}) {}

std::optional<Wanted> ClusterSource::latest() {
  const auto configs = configs_.latest();
  const auto node = node_.latest();
  if (!configs->complete || !node->complete) return std::nullopt;

  std::vector<const api::PublishedConfig*> published;
  published.reserve(configs->objects.size());
  for (const auto& object : configs->objects) published.push_back(&object->value);
  const meta::Labels labels = node->objects.empty() ? meta::Labels() : node->objects.front()->value.meta.labels;
  return compiler_.compile(published, labels, configs->unknown.empty() && node->unknown.empty());
}

}  // namespace agent
