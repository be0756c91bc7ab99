#include "cli/source_modes.h"

namespace cli {

SourceModes source_modes(state::ServiceProxy proxy) {
  using state::ServiceProxy;
  switch (proxy) {
    case ServiceProxy::nftables:
    case ServiceProxy::iptables:
      return {
          .works = "Reply (recommended), LocalEndpoints", .fails = "ClusterIP, LoadBalancerIP", .recommended = "Reply"};
    case ServiceProxy::ipvs:
      return {.works = "Reply (recommended), LoadBalancerIP", .fails = "ClusterIP", .recommended = "Reply"};
    case ServiceProxy::none:
      return {.works = "LoadBalancerIP, where an eBPF data path or a bound address answers with it",
              .fails = "",
              .recommended = "LoadBalancerIP"};
    case ServiceProxy::unknown:
      return {};
  }
  return {};
}

}  // namespace cli
