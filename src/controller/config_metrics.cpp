#include "controller/config_metrics.h"

#include <cstdint>

namespace controller {
namespace {

constexpr const char* kCreated = "IPRuleConfigs that were created.";
constexpr const char* kUpdated = "IPRuleConfigs that were updated.";
constexpr const char* kMarkedAbsent = "IPRuleConfigs that were withdrawn.";
constexpr const char* kDesired = "IPRuleConfigs that should be there.";
constexpr const char* kAbsent = "IPRuleConfigs that are withdrawn and not gone yet.";

void add(const auto& both, std::uint64_t amount) {
  both.first.add(static_cast<double>(amount));
  both.second.add(static_cast<double>(amount));
}

void set(const auto& both, std::uint64_t value) {
  both.first.set(static_cast<double>(value));
  both.second.set(static_cast<double>(value));
}

}  // namespace

ConfigMetrics::ConfigMetrics(metrics::Registry& registry)
    : created_{registry.counter("iprule_config_created_total", kCreated),
               registry.counter("iprule_operator_config_creates_total", kCreated)},
      updated_{registry.counter("iprule_config_updated_total", kUpdated),
               registry.counter("iprule_operator_config_updates_total", kUpdated)},
      marked_absent_{registry.counter("iprule_config_marked_absent_total", kMarkedAbsent),
                     registry.counter("iprule_operator_config_marked_absent_total", kMarkedAbsent)},
      desired_{registry.gauge("iprule_desired_configs", kDesired),
               registry.gauge("iprule_operator_desired_configs_total", kDesired)},
      absent_{registry.gauge("iprule_absent_configs", kAbsent),
              registry.gauge("iprule_operator_absent_configs_total", kAbsent)},
      conflicts_(registry.gauge("iprule_operator_conflicts", "Addresses that two IPRules claim.")),
      invalid_rules_(registry.gauge("iprule_operator_invalid_rules", "IPRules that cannot be used as they are.")),
      pending_nodes_(registry.gauge("iprule_operator_cleanup_pending_nodes",
                                    "Nodes that have not let go of something withdrawn.")) {}

void ConfigMetrics::passed(const ServiceRulesFigures& figures) const {
  add(created_, figures.created);
  add(updated_, figures.updated);
  add(marked_absent_, figures.marked_absent);
  set(desired_, figures.desired);
  set(absent_, figures.absent);
  conflicts_.set(static_cast<double>(figures.conflicts));
  invalid_rules_.set(static_cast<double>(figures.invalid_rules));
  pending_nodes_.set(static_cast<double>(figures.pending_nodes));
}

}  // namespace controller
