#include "intent/node/source_sight.h"

#include <fmt/format.h>

namespace intent {
namespace {

using api::SourceMode;

// The kernel puts the Service's address into a reply after its route was chosen: until then it bears the pod's.
Sight behind_translation(SourceMode mode) {
  switch (mode) {
    case SourceMode::cluster_ip:
    case SourceMode::load_balancer_ip:
      return Sight::never;
    case SourceMode::endpoints:
    case SourceMode::local_endpoints:
    case SourceMode::reply:
      return Sight::always;
  }
  return Sight::unknown;
}

// IPVS chooses the route a second time, when the reply bears the load balancer's address, and that choice counts.
Sight behind_ipvs(SourceMode mode) {
  switch (mode) {
    case SourceMode::cluster_ip:
    case SourceMode::endpoints:
    case SourceMode::local_endpoints:
      return Sight::never;
    case SourceMode::load_balancer_ip:
    case SourceMode::reply:
      return Sight::always;
  }
  return Sight::unknown;
}

}  // namespace

Sight sight_of(SourceMode mode, state::ServiceProxy proxy) {
  switch (proxy) {
    case state::ServiceProxy::nftables:
    case state::ServiceProxy::iptables:
      return behind_translation(mode);
    case state::ServiceProxy::ipvs:
      return behind_ipvs(mode);
    // An eBPF data path mostly answers with the load balancer's address and past the kernel's connections, other
    // network plugins in their own ways.
    case state::ServiceProxy::none:
    case state::ServiceProxy::unknown:
      return Sight::unknown;
  }
  return Sight::unknown;
}

std::vector<SourceMode> modes_with(Sight sight, state::ServiceProxy proxy) {
  std::vector<SourceMode> out;
  for (std::size_t i = 0; i < names(SourceMode()).size(); ++i) {
    const auto mode = static_cast<SourceMode>(i);
    if (sight_of(mode, proxy) == sight) out.push_back(mode);
  }
  return out;
}

std::string patch_command(std::string_view rule, SourceMode mode) {
  return fmt::format(R"(kubectl patch iprule {} --type=merge -p '{{"spec":{{"source":{{"modes":["{}"]}}}}}}')", rule,
                     text(mode));
}

}  // namespace intent
