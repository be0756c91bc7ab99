#pragma once

#include "api/agent.h"
#include "api/iprule.h"
#include "api/iprule_config.h"
#include "api/node_state.h"
#include "cli/agent_run.h"
#include "cli/controller_facts.h"
#include "cli/followed_kind.h"
#include "cli/status.h"
#include "kube/lease.h"
#include "kube/reflector.h"
#include "runtime/signal.h"

namespace cli {

// A cluster's facts, kept up to date by watches: after the first lists the server is asked nothing, it tells. `changed`
// is raised when there is something new; that somebody still leads is not.
class FollowedCluster {
 public:
  FollowedCluster(kube::Client& client, runtime::Signal& changed);

  // Every kind has been listed, or was found not to be there for us.
  bool is_known() const;
  // What is not listed, or cannot be followed at present, is a gap.
  ClusterFacts latest() const;

 private:
  ControllerFacts controller() const;

  FollowedKind<api::Agent> agents_;
  FollowedKind<api::IPRule> rules_;
  FollowedKind<api::IPRuleConfig> configs_;
  FollowedKind<api::NodeState> nodes_;
  kube::Reflector<AgentRun> runs_;
  kube::Reflector<ControllerSet> controllers_;
  kube::Reflector<kube::Lease> leases_;
};

}  // namespace cli
