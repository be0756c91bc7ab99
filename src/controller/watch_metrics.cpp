#include "controller/watch_metrics.h"

#include <chrono>

namespace controller {

WatchMetrics::WatchMetrics(metrics::Registry& registry, std::span<const std::string> resources) {
  for (const std::string& resource : resources) {
    gauges_.emplace(
        resource,
        Gauges{.synced = registry.gauge("iprule_watch_synced",
                                        "1 while everything of a kind has been seen, and what is new comes.",
                                        {{"resource", resource}}),
               .age = registry.gauge("iprule_watch_event_age_seconds",
                                     "Since the API server last told anything of a kind; it does so about once a "
                                     "minute even where nothing happens.",
                                     {{"resource", resource}})});
  }
}

void WatchMetrics::set(std::span<const WatchState> watches, base::TimePoint now) const {
  for (const WatchState& watch : watches) {
    const auto found = gauges_.find(watch.resource);
    if (found == gauges_.end()) continue;
    found->second.synced.set(watch.is_synced ? 1 : 0);
    if (watch.heard_at == base::TimePoint()) continue;  // Nothing yet: as good as no figure.
    found->second.age.set(std::chrono::duration<double>(now - watch.heard_at).count());
  }
}

}  // namespace controller
