#pragma once

#include <map>
#include <string>

#include "base/clock.h"
#include "kube/controller.h"
#include "metrics/registry.h"

namespace controller {

// What is counted of one job's passes: as dashboards know it from controller-runtime, and as the old project named it.
class JobMetrics {
 public:
  // `name` as controller-runtime has it ("ipRule"), `old_name` as the old project's own counters have it ("iprule").
  JobMetrics(metrics::Registry& registry, const std::string& name, const std::string& old_name);

  void passed(const kube::Pass& pass) const;
  void set_queue(const kube::WorkSchedule::Counts& counts, int active_workers) const;

 private:
  std::map<kube::Outcome, metrics::Counter> results_;
  metrics::Counter errors_;
  metrics::Histogram time_;
  metrics::Gauge active_;
  metrics::Gauge depth_;
  metrics::Counter adds_;
  metrics::Counter retries_;
  metrics::Histogram queue_time_;
  metrics::Histogram work_time_;
  metrics::Gauge unfinished_;
  metrics::Gauge longest_;
  metrics::Counter old_total_;
  metrics::Counter old_errors_;
  metrics::Histogram old_time_;
};

}  // namespace controller
