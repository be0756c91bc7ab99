#include "cli/steering.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/published_config.h"
#include "cli/pointers.h"
#include "intent/cluster/changes.h"

namespace cli {
namespace {

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

bool is_selected(const ClusterObjects& objects, const meta::Labels& selector, const std::string& node) {
  if (selector.empty()) return true;
  const auto named = [&](const api::Node& one) { return one.meta.name == node; };
  const auto found = std::ranges::find_if(objects.wanted.nodes, named);
  return found != objects.wanted.nodes.end() && selector.matches(found->meta.labels);
}

// The longest that has the address; nothing where none has.
std::optional<net::Prefix> match_in(const intent::RuleOutcome& outcome, const net::Address& vip) {
  std::optional<net::Prefix> best;
  for (const net::Prefix& prefix : outcome.acceptance.prefixes) {
    if (prefix.contains(vip) && (!best || prefix.length() > best->length())) best = prefix;
  }
  return best;
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
      for (const api::NodeState& report : objects_.reports) {
        if (!is_selected(objects_, config.tuple.node_selector, report.meta.name)) continue;
        ++steering.nodes;
        if (holds(report, *published_[i])) ++steering.reported;
      }
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

std::string Steerings::match_text(const api::IPRule& rule, const net::Address& vip) const {
  std::string own;
  std::string others;
  for (const intent::RuleOutcome& outcome : desired_.rules) {
    const auto prefix = match_in(outcome, vip);
    if (!prefix) continue;
    if (outcome.rule == &rule) {
      own = prefix->text();
    } else {
      others += fmt::format("{}{} of IPRule/{}", others.empty() ? "" : ", ", prefix->text(), outcome.rule->meta.name);
    }
  }
  return own.empty() || others.empty() ? "" : fmt::format("{} is the longest match, over {}", own, others);
}

std::string_view code_of(const meta::Condition& effective) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kCodes = {{{"SourceNeverSeen", "IPR0301"},
                                                                                    {"StrictReversePath", "IPR0310"},
                                                                                    {"RoutesMissing", "IPR0311"},
                                                                                    {"PriorityAfterMain", "IPR0404"}}};
  const auto* const found =
      std::ranges::find(kCodes, effective.reason, &std::pair<std::string_view, std::string_view>::first);
  return found != kCodes.end() && effective.status == meta::Truth::no ? found->second : "";
}

Steered sum_of(const std::vector<Steering>& steerings) {
  if (steerings.empty()) return Steered::by_nothing;
  return std::ranges::all_of(steerings, &Steering::is_well) ? Steered::as_wanted : Steered::otherwise;
}

}  // namespace cli
