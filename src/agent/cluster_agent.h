#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "agent/cluster_source.h"
#include "agent/environment.h"
#include "agent/findings.h"
#include "agent/loop_metrics.h"
#include "agent/node_loop.h"
#include "agent/probe_server.h"
#include "agent/readiness.h"
#include "agent/reporter.h"
#include "base/clock.h"
#include "kube/client.h"
#include "metrics/registry.h"
#include "runtime/health.h"
#include "runtime/heartbeat.h"
#include "runtime/signal.h"

namespace agent {

// One node of a cluster: its rules as published, its report, its probes and metrics.
class ClusterAgent {
 public:
  ClusterAgent(kube::Client& client, std::string node, const Environment& environment);

  void run(std::stop_token stop);

 private:
  void after(const Looked& looked);
  std::optional<std::string> node_trouble() const;
  http::Routes routes();

  const std::string node_;
  const NodeIdentity identity_;
  base::SteadyClock clock_;
  runtime::Heartbeat heartbeat_;
  runtime::Health alive_;
  runtime::Health ready_;
  Readiness readiness_;
  metrics::Registry registry_;
  LoopMetrics metrics_;
  runtime::Signal changed_;
  ClusterSource source_;
  Reporter reporter_;
  NodeLoop loop_;
  std::optional<ProbeServer> probes_;  // Last: it looks at much of the above.
};

}  // namespace agent
