#include "cli/steering.h"

#include <algorithm>

#include "api/published_config.h"
#include "intent/cluster/changes.h"

namespace cli {
namespace {

template <typename T>
std::vector<const T*> pointers(const std::vector<T>& values) {
  std::vector<const T*> out;
  for (const T& value : values) out.push_back(&value);
  return out;
}

intent::Desired desired_in(const ClusterObjects& objects) {
  const auto rules = pointers(objects.wanted.rules);
  const auto services = pointers(objects.wanted.services);
  const auto nodes = pointers(objects.wanted.nodes);
  const auto slices = pointers(objects.wanted.slices);
  return intent::desired_configs({.rules = rules,
                                  .services = services,
                                  .nodes = nodes,
                                  .slices = slices,
                                  .default_priority = agent::default_priority(objects.wanted)});
}

bool holds(const api::NodeState& report, const api::IPRuleConfig& config) {
  return std::ranges::any_of(report.status.settled, [&](const api::NodeState::Settled& settled) {
    const bool reached = settled.kind == api::IPRuleConfig::kKind && report.status.token == report.spec.token &&
                         static_cast<std::uint64_t>(settled.epoch) >= api::epoch(config);
    return reached &&
           std::ranges::find(settled.failed, config.meta.uid, &api::NodeState::Failed::uid) == settled.failed.end();
  });
}

}  // namespace

bool Steering::is_well() const {
  if (supposed) return true;
  return published != nullptr && reported == nodes && (effective == nullptr || effective->status != meta::Truth::no);
}

Steerings::Steerings(const ClusterObjects& objects)
    : objects_(objects),
      desired_(desired_in(objects)),
      published_(intent::find_published(pointers(objects.configs), desired_, agent::default_priority(objects.wanted))) {
}

std::vector<Steering> Steerings::of(const api::Service& service) const {
  std::vector<Steering> out;
  for (std::size_t i = 0; i < desired_.configs.size(); ++i) {
    const intent::DesiredConfig& config = desired_.configs[i];
    if (std::ranges::find(config.services, &service) == config.services.end()) continue;
    const bool present = published_[i] != nullptr && published_[i]->spec.state == api::ConfigState::present;
    const api::IPRule* rule = config.owners.front();
    Steering steering{.desired = &config,
                      .rule = rule,
                      .published = present ? published_[i] : nullptr,
                      .effective = meta::find(rule->status.conditions, "Effective"),
                      .supposed = objects_.supposed && !present};
    if (present) {
      steering.nodes = objects_.reports.size();
      steering.reported = static_cast<std::size_t>(std::ranges::count_if(
          objects_.reports, [&](const api::NodeState& report) { return holds(report, *published_[i]); }));
    }
    out.push_back(steering);
  }
  return out;
}

std::vector<std::string> Steerings::warnings(const api::Service& service) const {
  std::vector<std::string> out;
  for (const intent::ServiceFinding& finding : desired_.findings) {
    if (finding.service == &service) out.push_back(finding.message);
  }
  return out;
}

Steered sum_of(const std::vector<Steering>& steerings) {
  if (steerings.empty()) return Steered::by_nothing;
  return std::ranges::all_of(steerings, &Steering::is_well) ? Steered::as_wanted : Steered::otherwise;
}

}  // namespace cli
