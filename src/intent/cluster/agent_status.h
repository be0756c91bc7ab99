#pragma once

#include <optional>
#include <string>

#include "api/agent.h"
#include "api/daemon_set.h"
#include "meta/time.h"

namespace intent {

// What stands in the way of the agents, besides the figures of their DaemonSet. The messages come from whoever refused.
struct RolloutFacts {
  std::optional<std::string> not_prepared;  // We may not work in the Agent's namespace; the commands that change that.
  std::optional<std::string> foreign_set;   // There is a DaemonSet of that name that is not ours: whose it is.
  std::optional<std::string> not_allowed;   // A policy refuses the template.
  std::optional<std::string> invalid;       // The server cannot accept the template.
  bool account_missing = false;
  std::optional<std::string> pods_forbidden;
  std::optional<std::string> image_error;
  std::optional<std::string> crashing;     // Pods end by themselves: on which node, and how.
  std::optional<std::string> no_place;     // The scheduler has no room for one.
  std::optional<std::string> silent_node;  // Nothing is heard of a node's kubelet.
  // The server has no admission policies: nothing keeps one node's agent from writing another's report.
  bool lacks_policies = false;
};

// An Agent's DaemonSet as it is now: nullptr where there is none, nothing where it cannot be seen. Figures then stay as
// they were said last: unknown is not empty.
using SeenSet = std::optional<const api::DaemonSet*>;

// The status of the Agent that counts. Equal to the present one if there is nothing to say: transition times change
// with the condition's status only.
api::Agent::Status active_status(const api::Agent& agent, SeenSet set, const RolloutFacts& facts, meta::Time now);

// The status of any other; `active` is the one that counts.
api::Agent::Status inactive_status(const api::Agent& agent, const api::Agent* active, SeenSet set, meta::Time now);

// Whether pods of it may run, by its status alone: no only where it was told that it does not count, and nothing of its
// DaemonSet was left when that was last seen.
bool may_have_pods(const api::Agent& agent);

// Whether every node that should runs the present template, ready.
bool all_ready(const api::DaemonSet& set);

}  // namespace intent
