#include "agent/loop_metrics.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "metrics/process.h"

namespace agent {
namespace {

constexpr std::uint8_t kKernelProtocol = 2;  // RTPROT_KERNEL: the rules every host has.

std::vector<double> buckets() {
  std::vector<double> out;
  for (int k = 0; k < 12; ++k) out.push_back(0.005 * (1 << k));
  return out;
}

bool is_addition(const plan::Op& op) {
  return std::holds_alternative<plan::AddRule>(op);
}

bool is_removal(const plan::Op& op) {
  return std::holds_alternative<plan::RemoveRule>(op) || std::holds_alternative<plan::RemoveOpaqueRule>(op);
}

template <typename Is>
double count_done(const kernel::Engine::Report& report, Is is) {
  double out = 0;
  for (std::size_t i = 0; i < report.done.ops.size(); ++i) {
    if (report.outcome.results.at(i).effect == kernel::Effect::done && is(report.done.ops[i])) ++out;
  }
  return out;
}

double count_foreign(const state::NetState& observed, std::size_t own) {
  const auto is_kernels = [](const auto& rule) { return rule.protocol == kKernelProtocol; };
  const auto kernels =
      std::ranges::count_if(observed.rules, is_kernels) + std::ranges::count_if(observed.opaque_rules, is_kernels);
  return static_cast<double>(observed.rules.size() + observed.opaque_rules.size() - own) - static_cast<double>(kernels);
}

}  // namespace

LoopMetrics::LoopMetrics(metrics::Registry& registry)
    : added_(registry.counter("iprule_agent_rules_added_total", "Rules added to the kernel.")),
      deleted_(registry.counter("iprule_agent_rules_deleted_total", "Rules deleted from the kernel.")),
      errors_(registry.counter("iprule_agent_rule_errors_total", "Changes that the kernel refused.")),
      processed_(registry.counter("iprule_agent_ipruleconfigs_processed_total",
                                  "IPRuleConfigs looked at, each time that some of them had changed.")),
      repairs_(registry.counter("iprule_agent_drift_repairs_total",
                                "Rules that somebody else had changed and that were put right.")),
      reconnects_(registry.counter("iprule_agent_watch_reconnects_total", "Watches that failed and began anew.")),
      desired_(registry.gauge("iprule_agent_desired_rules", "Rules that this node should have.")),
      present_(registry.gauge("iprule_agent_present_rules", "Of those, the ones read back from the kernel.")),
      absent_(registry.gauge("iprule_agent_absent_rules", "IPRuleConfigs that are withdrawn.")),
      foreign_(registry.gauge(
          "iprule_agent_foreign_rules",
          "Rules of others in the scope of the Agent's foreignRules; without one all but the kernel's own.")),
      last_sync_(registry.gauge("iprule_agent_last_sync_timestamp_seconds",
                                "When the kernel was last read back as published, in seconds since 1970.")),
      watch_age_(registry.gauge("iprule_agent_watch_stale_seconds",
                                "For how long the watch that fails for the longest time has done so; 0: none fails.")),
      duration_(registry.histogram("iprule_agent_reconcile_duration_seconds", "How long one look took.", buckets())) {
  // Agents of the old project deleted objects themselves; here the controller does.
  (void)registry.counter("iprule_agent_ipruleconfigs_deleted_total", "IPRuleConfigs deleted by this agent: none.");
  metrics::add_process(registry);
  metrics::add_build_info(registry);
}

void LoopMetrics::note(const Looked& looked) {
  if (!looked) return errors_.add();
  if (!*looked) return;
  const Pass& pass = **looked;
  added_.add(count_done(pass.report, is_addition));
  deleted_.add(count_done(pass.report, is_removal));
  errors_.add(static_cast<double>(pass.report.outcome.count(kernel::Effect::failed)));
  repairs_.add(static_cast<double>(pass.repairs));
  duration_.observe(pass.took);
  if (!state::is_verified(pass.report.after)) return;

  const auto wanted = static_cast<double>(pass.wanted.state.rules.size());
  desired_.set(wanted + static_cast<double>(pass.held_back));
  present_.set(wanted - static_cast<double>(std::ranges::count_if(pass.report.left.ops, is_addition)));
  foreign_.set(pass.wanted.foreign_rules ? static_cast<double>(pass.foreign.size())
                                         : count_foreign(state::state_of(pass.report.after), pass.own_rules));
  if (!pass.report.settled()) return;
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  last_sync_.set(now.count());
}

void LoopMetrics::note(const ClusterSource::Basis& basis) {
  if (!basis.configs) return;
  reconnects_.raise_to(static_cast<double>(basis.configs->failures + basis.agents->failures + basis.nodes->failures +
                                           basis.reports->failures));
  if (!basis.configs->complete || std::exchange(seen_version_, basis.configs->version) == basis.configs->version) {
    return;
  }
  processed_.add(static_cast<double>(basis.configs->objects.size()));
  absent_.set(static_cast<double>(
      std::ranges::count_if(basis.configs->objects, [](const auto& object) { return !object->value.is_present(); })));
}

void LoopMetrics::note(const Freshness& freshness) {
  watch_age_.set(std::chrono::duration<double>(freshness.age()).count());
}

}  // namespace agent
