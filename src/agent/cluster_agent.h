#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/cluster_source.h"
#include "agent/departure.h"
#include "agent/environment.h"
#include "agent/findings.h"
#include "agent/freshness.h"
#include "agent/loop_metrics.h"
#include "agent/node_loop.h"
#include "agent/probe_server.h"
#include "agent/readiness.h"
#include "agent/reporter.h"
#include "agent/token_node.h"
#include "base/clock.h"
#include "http/url.h"
#include "kube/client.h"
#include "metrics/registry.h"
#include "plan/ownership.h"
#include "runtime/health.h"
#include "runtime/heartbeat.h"
#include "runtime/signal.h"
#include "runtime/snapshot.h"
#include "state/net_state.h"

namespace agent {

// One node of a cluster: its rules as published, its report, its probes and metrics. When stopped it leaves the rules
// as they are, unless it finds that they are to go with it.
class ClusterAgent {
 public:
  // `server`: where `client` asks.
  ClusterAgent(kube::Client& client, const http::Url& server, std::string node, const Environment& environment,
               metrics::Registry& registry);

  void run(std::stop_token stop);

 private:
  std::optional<Wanted> wanted(const Sight& sight);
  bool may_act() const;
  void after(const Looked& looked);
  void leave();
  Circumstances look_around(const kube::Limit& limit);
  std::optional<std::string> node_trouble() const;
  http::Response answer_ready(const http::Request& request) const;
  http::Routes routes();

  kube::Client& client_;
  const std::string node_;
  const std::string home_;
  const plan::Ownership ownership_;
  const NodeIdentity identity_;
  base::SteadyClock clock_;
  runtime::Heartbeat heartbeat_;
  runtime::Health alive_;
  runtime::Health ready_;
  Readiness readiness_;
  runtime::Snapshot<std::vector<state::Rule>> foreign_;  // What `/ready` shows besides.
  metrics::Registry& registry_;
  LoopMetrics metrics_;
  runtime::Signal changed_;
  TokenNode token_node_;
  ClusterSource source_;
  Freshness freshness_;
  std::optional<Doubt> elsewhere_;  // Why this is not the node's network.
  Reporter reporter_;
  NodeLoop loop_;
  std::optional<ProbeServer> probes_;  // Last: it looks at much of the above.
};

}  // namespace agent
