#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "api/iprule.h"
#include "api/iprule_config.h"
#include "api/node.h"
#include "api/service.h"
#include "base/clock.h"
#include "base/result.h"
#include "intent/cluster/changes.h"
#include "kube/client.h"
#include "kube/next.h"
#include "kube/reflector.h"
#include "runtime/signal.h"

namespace controller {

// Job 1, the cluster's side: IPRules and LoadBalancer Services become IPRuleConfig objects. Every change of any input
// is one and the same reason to look at everything again. It follows the API server from its construction on;
// reconcile() is for one thread, the one that leads.
class ServiceRules {
 public:
  explicit ServiceRules(kube::Client& client);

  runtime::Signal& changed() { return changed_; }  // Raised when there is a reason for a pass.
  base::Result<kube::Next> reconcile(std::stop_token stop);

  // Any thread: what has not been seen whole yet, and why; nothing when all of it has.
  std::optional<std::string> waiting_for() const;

 private:
  // What to write now; nothing while some list has not been seen whole.
  std::vector<intent::Write> decide() const;
  base::Status write(const intent::Write& write, std::stop_token stop);
  bool sees_own_writes() const;

  kube::Client& client_;
  runtime::Signal changed_;
  kube::Reflector<api::IPRule> rules_;
  kube::Reflector<api::Service> services_;
  kube::Reflector<api::Node> nodes_;
  kube::Reflector<api::IPRuleConfig> configs_;
  std::uint64_t last_write_ = 0;  // The version our newest write was given, and when.
  base::TimePoint last_write_at_{};
};

}  // namespace controller
