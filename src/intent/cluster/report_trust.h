#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/node_state.h"

namespace intent {

// Finds the reports whose numbers mean other writes by now, because the storage was restored from a backup: those that
// state more than the server has ever given out, and all that were there when the objects themselves went back.
class ReportTrust {
 public:
  // A view of the IPRuleConfigs goes back only after two consistent reads have.
  void saw(std::uint64_t view_version, std::span<const api::NodeState* const> states);

  // Some report states more than we have seen. An agent's watch may be ahead of ours: only the server itself knows.
  bool must_ask(std::span<const api::NodeState* const> states) const;
  void asked(std::uint64_t newest_version) { newest_ = newest_version; }

  // The names of those that can no longer be believed.
  std::vector<std::string> distrusted(std::span<const api::NodeState* const> states) const;

 private:
  bool states_too_much(const api::NodeState& state) const;

  std::uint64_t seen_ = 0;
  std::uint64_t newest_ = 0;
  std::set<std::string> spent_tokens_;  // Given out before the storage went back.
};

}  // namespace intent
