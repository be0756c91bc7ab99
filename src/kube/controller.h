#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/workqueue.h"
#include "runtime/health.h"
#include "runtime/heartbeat.h"

namespace kube {

// How a pass ended, in the words of controller-runtime's metrics.
enum class Outcome { success, error, requeue, requeue_after };
std::string_view text(Outcome outcome);

struct Pass {
  Outcome outcome;
  base::Duration waited;  // For a worker, since its key was ready.
  base::Duration took;
};

struct ControllerOptions {
  std::string name;
  unsigned workers = 1;
  WorkTuning tuning = {};
  base::Duration stuck_after = std::chrono::minutes(2);  // A pass that takes longer makes health fail.
};

// A work queue and the workers that empty it. A reconciler that fails is called again with back-off, its error logged;
// whatever else it wants is in the Next it returns. It runs on the workers' threads, never for one key twice at once.
class Controller {
 public:
  using Reconcile = std::function<base::Result<Next>(const WorkKey&, std::stop_token)>;
  using Observer = std::function<void(const Pass&)>;  // After each pass, on its worker; for metrics.

  Controller(ControllerOptions options, Reconcile reconcile, Observer observe = {});

  WorkQueue& queue() { return queue_; }
  int active_workers() const { return active_; }
  void add_to(runtime::Health& health) const;  // Which must end before this does.

  // Works until stopped and what was ready then is done.
  void run(std::stop_token stop);

 private:
  void work(runtime::Heartbeat& heartbeat, std::stop_token stop);
  Next pass(const WorkKey& key, std::stop_token stop);

  const ControllerOptions options_;
  const Reconcile reconcile_;
  const Observer observe_;
  base::SteadyClock clock_;
  WorkQueue queue_;
  std::list<runtime::Heartbeat> heartbeats_;  // One per worker; they do not move.
  std::atomic<int> active_ = 0;
};

}  // namespace kube
