#include "kernel/facts.h"

#include <filesystem>
#include <sys/utsname.h>
#include <system_error>

#include "kernel/nft/lookup.h"
#include "kernel/observe.h"
#include "kernel/rtnl/route_query.h"
#include "kernel/service_proxy.h"
#include "kernel/sysctl.h"

namespace kernel {
namespace {

std::string kernel_release() {
  utsname names{};
  return ::uname(&names) == 0 ? names.release : "";
}

// The counter is there, in every network namespace, from the moment the kernel can follow connections.
std::optional<bool> has_conntrack() {
  std::error_code error;
  if (!std::filesystem::is_directory("/proc/sys/net", error)) return std::nullopt;
  const bool is_there = std::filesystem::exists("/proc/sys/net/netfilter/nf_conntrack_count", error);
  return error ? std::nullopt : std::optional(is_there);
}

std::optional<bool> has_nftables() {
  auto socket = Socket::open(Bus::netfilter);
  const auto answer = socket ? nft::has_table(*socket, nft::Family::inet, state::kNftTableName)
                             : base::Result<bool>(std::unexpected(socket.error()));
  if (answer) return true;
  return nft::is_missing(answer.error()) ? std::optional(false) : std::nullopt;
}

std::map<net::InterfaceName, int> reverse_path_filters(const std::vector<state::TableUse>& tables) {
  std::map<net::InterfaceName, int> out;
  for (const state::TableUse& use : tables) {
    if (use.family != net::Family::v4) continue;  // There is none for IPv6.
    for (const net::InterfaceName& device : use.devices) {
      if (const auto value = effective_rp_filter(device)) out[device] = *value;
    }
  }
  return out;
}

// By asking, and not from the table main, which may be very long. The destinations are those of examples (RFC 5737 and
// 3849), to which nobody has a route of their own. An answer that does not come is no gateway.
std::set<net::Address> default_gateways(Socket& socket) {
  std::set<net::Address> out;
  const auto links = rtnl::read_link_table(socket);
  if (!links) return out;
  for (const char* somewhere : {"192.0.2.1", "2001:db8::1"}) {
    const net::Address to = *net::Address::parse(somewhere);
    const net::Address from = to.masked(0);  // None yet, of the same family.
    const auto verdict = rtnl::ask_route(socket, {.from = from, .to = to}, *links);
    if (!verdict || verdict->kind != path::Verdict::Kind::leaves) continue;
    for (const state::RouteHop& hop : verdict->hops) {
      if (hop.via) out.insert(*hop.via);
    }
  }
  return out;
}

}  // namespace

base::Result<state::NodeFacts> read_facts(Socket& socket, const std::set<std::uint32_t>& tables, std::stop_token stop) {
  const auto observed = TRY(
      observe(socket, stop, {.routing = true, .protocols = {}, .tables = std::vector(tables.begin(), tables.end())}));
  const state::NetState& seen = state::state_of(observed);
  state::NodeFacts out = state::facts_of(seen, tables);
  out.kernel = kernel_release();
  out.service_proxy = find_service_proxy(seen);
  out.conntrack = has_conntrack();
  out.nftables = has_nftables();
  out.gateways = default_gateways(socket);
  out.reverse_path_filter = reverse_path_filters(out.tables);
  return out;
}

}  // namespace kernel
