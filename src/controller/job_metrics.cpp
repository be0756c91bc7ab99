#include "controller/job_metrics.h"

#include <vector>

namespace controller {
namespace {

using kube::Outcome;

// controller-runtime's.
const std::vector<double> kBounds = {0.005, 0.01, 0.025, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
                                     0.7,   0.8,  0.9,   1,    1.25, 1.5,  1.75, 2,    2.5, 3,    3.5, 4,    4.5, 5,
                                     6,     7,    8,     9,    10,   15,   20,   25,   30,  40,   50,  60};
// client-go's.
const std::vector<double> kWorkBounds = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000};
// The old project's.
const std::vector<double> kOldBounds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};

}  // namespace

JobMetrics::JobMetrics(metrics::Registry& registry, const std::string& name, const std::string& old_name)
    : errors_(
          registry.counter("controller_runtime_reconcile_errors_total", "Passes that failed.", {{"controller", name}})),
      time_(registry.histogram("controller_runtime_reconcile_time_seconds", "How long passes took.", kBounds,
                               {{"controller", name}})),
      active_(registry.gauge("controller_runtime_active_workers", "Passes under way.", {{"controller", name}})),
      depth_(registry.gauge("workqueue_depth", "Keys that wait for a worker.", {{"name", name}})),
      adds_(registry.counter("workqueue_adds_total", "Keys that were queued.", {{"name", name}})),
      retries_(registry.counter("workqueue_retries_total", "Keys that were queued again after a failure.",
                                {{"name", name}})),
      queue_time_(registry.histogram("workqueue_queue_duration_seconds", "How long a key waited for a worker.",
                                     kWorkBounds, {{"name", name}})),
      work_time_(registry.histogram("workqueue_work_duration_seconds", "How long the work on a key took.", kWorkBounds,
                                    {{"name", name}})),
      unfinished_(registry.gauge("workqueue_unfinished_work_seconds",
                                 "For how long keys that are worked on have been, in sum.", {{"name", name}})),
      longest_(registry.gauge("workqueue_longest_running_processor_seconds",
                              "For how long the key that takes longest has been worked on.", {{"name", name}})),
      old_total_(registry.counter("iprule_operator_reconcile_total", "Passes.", {{"controller", old_name}})),
      old_errors_(registry.counter("iprule_operator_reconcile_errors_total", "Passes that failed.",
                                   {{"controller", old_name}})),
      old_time_(registry.histogram("iprule_operator_reconcile_duration_seconds", "How long passes took.", kOldBounds,
                                   {{"controller", old_name}})) {
  for (const Outcome outcome : {Outcome::success, Outcome::error, Outcome::requeue, Outcome::requeue_after}) {
    results_.emplace(outcome, registry.counter("controller_runtime_reconcile_total", "Passes by their outcome.",
                                               {{"controller", name}, {"result", std::string(kube::text(outcome))}}));
  }
  registry
      .gauge("controller_runtime_max_concurrent_reconciles", "Passes that may be under way at once.",
             {{"controller", name}})
      .set(1);
}

void JobMetrics::passed(const kube::Pass& pass) const {
  results_.at(pass.outcome).add();
  time_.observe(pass.took);
  queue_time_.observe(pass.waited);
  work_time_.observe(pass.took);
  old_total_.add();
  old_time_.observe(pass.took);
  if (pass.outcome != Outcome::error) return;
  errors_.add();
  old_errors_.add();
}

void JobMetrics::set_queue(const kube::WorkSchedule::Counts& counts, int active_workers) const {
  depth_.set(static_cast<double>(counts.ready));
  adds_.raise_to(static_cast<double>(counts.adds));
  retries_.raise_to(static_cast<double>(counts.retries));
  unfinished_.set(std::chrono::duration<double>(counts.unfinished).count());
  longest_.set(std::chrono::duration<double>(counts.longest).count());
  active_.set(active_workers);
}

}  // namespace controller
