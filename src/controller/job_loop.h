#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "controller/job_metrics.h"
#include "kube/controller.h"
#include "metrics/registry.h"
#include "runtime/health.h"
#include "runtime/signal.h"

namespace controller {

// Runs one job of the controller. Every change of anything it watches is one and the same reason to look at everything
// again: one key in a work queue, so changes that come together are one look, and a look that failed comes again with
// back-off.
class JobLoop {
 public:
  using Reconcile = std::function<base::Result<kube::Next>(std::stop_token)>;

  struct Names {
    std::string controller;  // In the metrics of controller-runtime and in logs: "ipRule".
    std::string old;         // In those of the old project: "iprule".
  };

  // `changed` is raised by what the job watches. All three must outlive the loop, and the loop whoever asks the
  // registry or the health for their text.
  JobLoop(const Names& names, runtime::Signal& changed, Reconcile reconcile, metrics::Registry& registry);

  void add_to(runtime::Health& health) const { controller_.add_to(health); }

  // A first look, and then one after each change, until stopped.
  void run(std::stop_token stop);

 private:
  const JobMetrics metrics_;
  runtime::Signal& changed_;
  kube::Controller controller_;
};

}  // namespace controller
