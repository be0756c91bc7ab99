#include "agent/drift.h"

#include <algorithm>

namespace agent {

void Drift::note_repair(base::TimePoint now) {
  std::erase_if(repairs_, [&](base::TimePoint then) { return then <= now - kWindow; });
  repairs_.push_back(now);
}

std::optional<std::size_t> Drift::often(base::TimePoint now) const {
  const auto recent = static_cast<std::size_t>(
      std::ranges::count_if(repairs_, [&](base::TimePoint then) { return then > now - kWindow; }));
  if (recent <= kOften) return std::nullopt;
  return recent;
}

std::string Drift::advice() {
  return "another program removes or changes our rules again and again. The likely cause is systemd-networkd, "
         "which removes rules it does not know: set ManageForeignRoutingPolicyRules=no in networkd.conf. Else look for "
         "what runs `ip rule flush` or `ip rule del` on this node, for example with `ip monitor rule`";
}

}  // namespace agent
