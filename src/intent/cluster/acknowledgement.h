#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "api/iprule_config.h"
#include "api/node.h"
#include "api/node_state.h"
#include "intent/cluster/changes.h"
#include "meta/time.h"

namespace intent {

// Whether the node's report covers the object's present generation: the report answers the token it was given, has come
// as far as the object's epoch, and does not list the object as failed. Valid for a withdrawn object ("the rule is gone
// here") across a restart of the node, because no restart makes rules.
bool acknowledges(const api::NodeState& report, const api::IPRuleConfig& config);

// Objects go when every node that may hold their rule has said that it does not. Which nodes those are is never taken
// from labels, selectors or pods of the moment: a node that was deselected, or whose agent died, still has its kernel.
class AwaitNodes final : public Removal {
 public:
  // `states`: all that exist, from a complete list; `nodes`: likewise.
  AwaitNodes(std::span<const api::NodeState* const> states, std::span<const api::Node* const> nodes, meta::Time now,
             std::chrono::seconds timeout);

  bool withdraws_first() const override { return true; }
  bool is_settled(const api::IPRuleConfig& withdrawn) const override;

  // The nodes that have not acknowledged, by name. Some of these in a removal means that it had waited long enough.
  std::vector<std::string> missing(const api::IPRuleConfig& withdrawn) const;

 private:
  std::vector<const api::NodeState*> holders_;  // By name.
  meta::Time now_;
  std::chrono::seconds timeout_;
};

}  // namespace intent
