#include "agent/freshness.h"

#include <algorithm>

#include <fmt/format.h>

namespace agent {

void Freshness::note(const ClusterSource::Basis& basis, base::TimePoint now) {
  if (!basis.configs) return;
  doubt_.reset();
  age_ = {};
  note("ipruleconfigs", basis.configs->trouble, now);
  note("agents", basis.agents->trouble, now);
  note("nodes", basis.nodes->trouble, now);
  note("nodestates", basis.reports->trouble, now);
}

void Freshness::note(const std::string& resource, const std::optional<base::Error>& trouble, base::TimePoint now) {
  if (!trouble) {
    failing_.erase(resource);
    return;
  }
  const base::Duration age = now - failing_.try_emplace(resource, now).first->second;
  age_ = std::max(age_, age);
  const bool is_refused = trouble->fault() == base::Fault::denied;
  if (!is_refused && age < kPatience) return;
  if (doubt_ && (!is_refused || doubt_->reason == "NoAccess")) return;
  doubt_ = {.reason = is_refused ? "NoAccess" : "Stale",
            .message = fmt::format("{} can no longer be watched, so what is new there is not known; the rules stay as "
                                   "they are: {}",
                                   resource, trouble->message())};
}

}  // namespace agent
