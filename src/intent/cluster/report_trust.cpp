#include "intent/cluster/report_trust.h"

#include <algorithm>

#include "intent/cluster/acknowledgement.h"
#include "intent/cluster/node_states.h"

namespace intent {

void ReportTrust::saw(std::uint64_t view_version, std::span<const api::NodeState* const> states) {
  if (view_version < seen_) {
    for (const api::NodeState* state : states) spent_tokens_.insert(state->spec.token);
    newest_ = view_version;
  }
  seen_ = view_version;
}

bool ReportTrust::states_too_much(const api::NodeState& state) const {
  return is_answered(state) && stated_epoch(state) > std::max(seen_, newest_);
}

bool ReportTrust::must_ask(std::span<const api::NodeState* const> states) const {
  return std::ranges::any_of(states, [&](const api::NodeState* state) { return states_too_much(*state); });
}

std::vector<std::string> ReportTrust::distrusted(std::span<const api::NodeState* const> states) const {
  std::vector<std::string> out;
  for (const api::NodeState* state : states) {
    if (states_too_much(*state) || spent_tokens_.contains(state->spec.token)) out.push_back(state->meta.name);
  }
  return out;
}

}  // namespace intent
