#include "controller/rollout_metrics.h"

namespace controller {
namespace {

metrics::Counter operation(metrics::Registry& registry, const char* name) {
  return registry.counter("iprule_operator_agent_daemonset_operations_total", "What was done to the agents' DaemonSet.",
                          {{"operation", name}});
}

}  // namespace

RolloutMetrics::RolloutMetrics(metrics::Registry& registry)
    : created(operation(registry, "created")),
      updated(operation(registry, "updated")),
      unchanged(operation(registry, "unchanged")),
      desired_(registry.gauge("iprule_operator_agent_daemonset_desired", "Nodes that should run an agent.")),
      current_(registry.gauge("iprule_operator_agent_daemonset_current", "Nodes that run one.")),
      ready_(registry.gauge("iprule_operator_agent_daemonset_ready", "Nodes whose agent is ready.")) {}

void RolloutMetrics::set(const api::DaemonSet* set) const {
  desired_.set(set != nullptr ? set->status.desired : 0);
  current_.set(set != nullptr ? set->status.current : 0);
  ready_.set(set != nullptr ? set->status.ready : 0);
}

}  // namespace controller
