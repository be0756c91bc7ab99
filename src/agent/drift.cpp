#include "agent/drift.h"

#include <algorithm>
#include <functional>

namespace agent {

void Drift::note_repair(std::string_view change, base::TimePoint now) {
  if (now - forgotten_ >= kWindow) forget(now - kWindow);
  const auto [known, is_first] = repairs_.try_emplace(std::hash<std::string_view>()(change));
  Latest& latest = known->second;
  if (is_first) latest.at.fill(now - kWindow);
  latest.at[latest.next] = now;
  latest.next = (latest.next + 1) % latest.at.size();
  often_until_ = std::max(often_until_, latest.oldest() + kWindow);
}

// Once a minute is enough to keep the memory of a storm bounded by what we own.
void Drift::forget(base::TimePoint before) {
  std::erase_if(repairs_, [&](const auto& one) { return one.second.newest() <= before; });
  forgotten_ = before + kWindow;
}

std::string Drift::advice() {
  return "another program removes or changes our rules again and again. The likely cause is systemd-networkd, "
         "which removes rules it does not know: set ManageForeignRoutingPolicyRules=no in networkd.conf. Else look for "
         "what runs `ip rule flush` or `ip rule del` on this node, for example with `ip monitor rule`";
}

}  // namespace agent
