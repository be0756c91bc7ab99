#pragma once

#include "api/daemon_set.h"
#include "metrics/registry.h"

namespace controller {

// The agents' DaemonSet in figures, under the old project's names.
class RolloutMetrics {
 public:
  explicit RolloutMetrics(metrics::Registry& registry);

  // What is there now; nullptr: no Agent, so nothing is wanted. While it cannot be seen, nobody calls this.
  void set(const api::DaemonSet* set) const;

  metrics::Counter created;
  metrics::Counter updated;
  metrics::Counter unchanged;

 private:
  metrics::Gauge desired_;
  metrics::Gauge current_;
  metrics::Gauge ready_;
};

}  // namespace controller
