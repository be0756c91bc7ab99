#pragma once

#include <optional>
#include <stop_token>

#include "base/clock.h"
#include "kube/next.h"
#include "kube/work_schedule.h"
#include "runtime/guarded.h"

namespace kube {

// A WorkSchedule that workers wait on, by the steady clock. Usable from any number of threads; add() never blocks for
// longer than another call takes. A worker is
//
//   while (const auto key = queue.take(stop)) queue.done(*key, reconcile(*key, stop));
//
// After a stop the workers drain the queue: what is ready is still handed out, new adds and delays are dropped.
class WorkQueue {
 public:
  explicit WorkQueue(const WorkTuning& tuning = {}) : schedule_(tuning) {}

  void add(const WorkKey& key);
  void add_after(const WorkKey& key, base::Duration delay);

  std::optional<WorkKey> take(std::stop_token stop);  // None: stopped and drained.
  base::Duration waited(const WorkKey& key) const;    // Of a key that was taken: how long it had been ready.
  void done(const WorkKey& key, const Next& next);

  WorkSchedule::Counts counts() const;

 private:
  base::SteadyClock clock_;
  runtime::Guarded<WorkSchedule> schedule_;
};

}  // namespace kube
