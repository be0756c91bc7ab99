#pragma once

#include <memory>
#include <optional>
#include <thread>

#include "base/result.h"
#include "controller/options.h"
#include "http/server.h"
#include "kube/authorize.h"
#include "metrics/registry.h"
#include "runtime/health.h"

namespace controller {

// What the outside asks of the process. All of it is read on the servers' threads, until the Listeners end.
struct Views {
  const runtime::Health& live;
  const runtime::Health& ready;
  metrics::Registry& metrics;
  kube::Authorizer& authorizer;
};

// The two doors of the controller: /healthz and /readyz for the kubelet, /metrics for those who may read them. Each has
// a thread of its own from open() to destruction.
class Listeners {
 public:
  static base::Result<Listeners> open(const Options& options, const Views& views);

 private:
  explicit Listeners(std::vector<std::jthread> threads) : threads_(std::move(threads)) {}

  std::vector<std::jthread> threads_;
};

}  // namespace controller
