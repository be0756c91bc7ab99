#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/agent.h"
#include "intent/cluster/acknowledgement.h"
#include "intent/cluster/changes.h"
#include "intent/cluster/desired.h"
#include "intent/cluster/node_states.h"
#include "intent/cluster/patience.h"
#include "meta/time.h"

namespace intent {

// By the object's name, a write that failed when it was tried last.
struct FailedWrite {
  api::IPRuleConfig::Spec asked;
  std::string error;
};
using FailedWrites = std::map<std::string, FailedWrite>;

// Everything the controller knows at one instant, all of it seen whole. The pointers are the caller's.
struct ClusterNow {
  std::span<const api::IPRule* const> rules;
  std::span<const api::Service* const> services;
  std::span<const api::EndpointSlice* const> slices;
  std::span<const api::IPRuleConfig* const> configs;  // All, also those that are not ours,
  std::span<const std::string> unread_configs;        // and the names of those that cannot be read.
  AgentPlaces places;
  const api::Agent* agent = nullptr;  // The active one.
  bool may_withdraw = true;           // False: something that cannot be read may be the reason for any object.
  bool may_replace = true;            // False: an IPRule that cannot be read may be the one that steers a source now.
  std::string fresh_token;
  std::vector<std::string> distrusted;  // Names of reports whose numbers can no longer be believed.
  FailedWrites failed_writes;           // Of IPRuleConfigs.
  meta::Time now{};
};

// A status that should be written: the object with its new status, and what it had before.
struct ConfigStatusWrite {
  api::IPRuleConfig object;
  const DesiredConfig* wanted = nullptr;  // Set where every node has just come to hold it.
};
struct RuleStatusWrite {
  api::IPRule object;
  const api::IPRule* before = nullptr;
};

// What to do about it. Nothing here depends on the success of anything else here.
struct Decision {
  Desired desired;
  std::vector<NodeStateWrite> states;
  std::vector<Write> configs;
  std::vector<ConfigStatusWrite> config_statuses;
  std::vector<RuleStatusWrite> rule_statuses;
  // Removals that had waited long enough: whom they waited for.
  std::map<std::string, std::vector<std::string>> given_up;  // By the object's name.
  std::uint64_t pending_nodes = 0;                           // That some withdrawn object waits for.
  meta::Time look_again = meta::Time::max();                 // Without any change.
};

// The whole controller of service rules as a function: equal input in any order gives equal output. `patience` is what
// it remembers from pass to pass: since when things have been unfinished.
Decision decide(const ClusterNow& cluster, Patience& patience);

}  // namespace intent
