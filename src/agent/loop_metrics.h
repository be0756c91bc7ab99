#pragma once

#include "agent/cluster_source.h"
#include "agent/freshness.h"
#include "agent/node_loop.h"
#include "metrics/registry.h"

namespace agent {

// The agent's metrics. Written by the loop after each look; a failed one leaves gauges as they were.
class LoopMetrics {
 public:
  explicit LoopMetrics(metrics::Registry& registry);

  void note(const Looked& looked);
  void note(const ClusterSource::Basis& basis);
  void note(const Freshness& freshness);

 private:
  metrics::Counter added_;
  metrics::Counter deleted_;
  metrics::Counter errors_;
  metrics::Counter processed_;
  metrics::Counter repairs_;
  metrics::Counter reconnects_;
  metrics::Gauge desired_;
  metrics::Gauge present_;
  metrics::Gauge absent_;
  metrics::Gauge foreign_;
  metrics::Gauge last_sync_;
  metrics::Gauge watch_age_;
  metrics::Histogram duration_;
  std::uint64_t seen_version_ = 0;  // Of the published objects.
};

}  // namespace agent
