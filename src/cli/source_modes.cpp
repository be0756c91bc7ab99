#include "cli/source_modes.h"

#include <algorithm>

#include <fmt/format.h>

#include "intent/node/source_sight.h"

namespace cli {
namespace {

using api::SourceMode;
using intent::Sight;
using state::ServiceProxy;

// A proxy of Kubernetes is known to do the same with every connection; of others, connections tell.
Sight sight_of(SourceMode mode, const DataPath& path) {
  if (mode == SourceMode::reply && !path.tells_replies) return Sight::never;
  const Sight known = intent::sight_of(mode, path.proxy);
  if (known != Sight::unknown || !path.seen) return known;
  return meets(mode, *path.seen) ? Sight::always : Sight::never;
}

std::optional<SourceMode> best_of(const DataPath& path, const std::vector<SourceMode>& works) {
  // The narrowest that is sure to meet the reply and needs no mark.
  const bool by_seen = intent::sight_of(SourceMode::reply, path.proxy) == Sight::unknown && path.seen;
  if (by_seen && *path.seen == ReplyBears::cluster_ip) return SourceMode::cluster_ip;
  if (by_seen && *path.seen == ReplyBears::load_balancer) return SourceMode::load_balancer_ip;
  for (const SourceMode mode : {SourceMode::reply, SourceMode::load_balancer_ip, SourceMode::local_endpoints}) {
    if (std::ranges::find(works, mode) != works.end()) return mode;
  }
  return std::nullopt;
}

std::string joined(const std::vector<SourceMode>& modes, const std::optional<SourceMode>& recommended) {
  std::string out;
  for (const SourceMode mode : modes) {
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", text(mode), mode == recommended ? " (recommended)" : "");
  }
  return out;
}

}  // namespace

SourceModes source_modes(const DataPath& path) {
  SourceModes out;
  for (std::size_t i = 0; i < names(SourceMode()).size(); ++i) {
    const auto mode = static_cast<SourceMode>(i);
    const Sight sight = sight_of(mode, path);
    if (sight == Sight::always) out.works.push_back(mode);
    if (sight == Sight::never) out.fails.push_back(mode);
  }
  out.recommended = best_of(path, out.works);
  if (out.works.empty() && path.proxy == ServiceProxy::none) {
    out.works = {SourceMode::load_balancer_ip};
    out.condition = "where an eBPF data path or a bound address answers with it";
    if (path.cilium) out.recommended = SourceMode::load_balancer_ip;
  }
  std::ranges::stable_partition(out.works, [&](SourceMode mode) { return mode == out.recommended; });
  return out;
}

std::string works_text(const SourceModes& modes) {
  return joined(modes.works, modes.recommended) + (modes.condition.empty() ? "" : fmt::format(", {}", modes.condition));
}

std::string fails_text(const SourceModes& modes) {
  return joined(modes.fails, std::nullopt);
}

}  // namespace cli
