#pragma once

#include <map>
#include <span>
#include <string>

#include "base/clock.h"
#include "controller/waiting.h"
#include "metrics/registry.h"

namespace controller {

// The watches in figures: an alert on these finds a right that was taken away while everything else looks as before.
class WatchMetrics {
 public:
  WatchMetrics(metrics::Registry& registry, std::span<const std::string> resources);

  void set(std::span<const WatchState> watches, base::TimePoint now) const;

 private:
  struct Gauges {
    metrics::Gauge synced;
    metrics::Gauge age;
  };
  std::map<std::string, Gauges> gauges_;  // By resource.
};

}  // namespace controller
