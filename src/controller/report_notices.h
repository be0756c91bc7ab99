#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "api/node_state.h"
#include "kube/event_journal.h"

namespace controller {

// What people hear of the nodes: an agent writes nothing but its report, so the controller tells for it. Each trouble
// is told when it begins, when its words change, and, for repairs, when it is over. What was under way before this
// process looked is told once more rather than never. One thread.
class ReportNotices {
 public:
  // What is new since the last call. Each notice is about the report, and related to the Node.
  std::vector<kube::Notice> news(std::span<const api::NodeState* const> reports,
                                 std::span<const api::Node* const> nodes);

 private:
  using Told = std::map<std::string_view, std::string>;  // By the condition's type: what it said.

  std::map<std::string, Told> told_;  // By the report's uid; only those that are in trouble.
};

}  // namespace controller
