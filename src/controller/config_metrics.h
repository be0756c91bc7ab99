#pragma once

#include "controller/service_rules.h"
#include "metrics/registry.h"

namespace controller {

// The published objects in figures, under the names of both generations of the old project, and what ours adds. A pass
// that did not see everything says nothing, so that an API error never looks like an empty cluster.
class ConfigMetrics {
 public:
  explicit ConfigMetrics(metrics::Registry& registry);

  void passed(const ServiceRulesFigures& figures) const;

 private:
  // One figure under an older and a newer name.
  template <typename Metric>
  struct Both {
    Metric first;
    Metric second;
  };

  Both<metrics::Counter> created_;
  Both<metrics::Counter> updated_;
  Both<metrics::Counter> marked_absent_;
  Both<metrics::Gauge> desired_;
  Both<metrics::Gauge> absent_;  // Gauges, although the newer names end in _total.
  metrics::Gauge conflicts_;
  metrics::Gauge invalid_rules_;
  metrics::Gauge pending_nodes_;
};

}  // namespace controller
