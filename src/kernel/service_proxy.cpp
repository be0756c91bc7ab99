#include "kernel/service_proxy.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "kernel/nft/lookup.h"

namespace kernel {
namespace {

using state::ServiceProxy;

// kube-proxy in this mode gives every Service address to a link of this name.
bool has_ipvs_link(const state::NetState& observed) {
  return std::ranges::any_of(observed.observed_links,
                             [](const state::ObservedLink& seen) { return seen.link.name.text() == "kube-ipvs0"; });
}

// The old iptables keeps its chains where only its own system call sees them.
bool has_legacy_nat() {
  std::ifstream names("/proc/thread-self/net/ip_tables_names");
  std::string name;
  while (names >> name) {
    if (name == "nat") return true;
  }
  return false;
}

base::Result<ServiceProxy> ask_nftables() {
  auto socket = TRY(Socket::open(Bus::netfilter));
  for (const auto family : {nft::Family::ip, nft::Family::ip6}) {
    if (TRY(nft::has_table(socket, family, "kube-proxy"))) return ServiceProxy::nftables;
    if (TRY(nft::has_chain(socket, family, "nat", "KUBE-SERVICES"))) return ServiceProxy::iptables;
  }
  return ServiceProxy::none;
}

}  // namespace

ServiceProxy find_service_proxy(const state::NetState& observed) {
  if (has_ipvs_link(observed)) return ServiceProxy::ipvs;
  const auto found = ask_nftables();
  if (!found && !nft::is_missing(found.error())) return ServiceProxy::unknown;
  const auto proxy = found.value_or(ServiceProxy::none);
  return proxy == ServiceProxy::none && has_legacy_nat() ? ServiceProxy::unknown : proxy;
}

}  // namespace kernel
