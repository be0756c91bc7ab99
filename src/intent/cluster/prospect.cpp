#include "intent/cluster/prospect.h"

#include <algorithm>

#include "intent/node/source_sight.h"

namespace intent {
namespace {

using api::SourceMode;
using state::ServiceProxy;

constexpr int kStrict = 1;

bool uses(const std::vector<net::Prefix>& prefixes, net::Family family) {
  return std::ranges::find(prefixes, family, &net::Prefix::family) != prefixes.end();
}

// A reply always is. Of sources only where marks are ordered: left to itself, a node keeps those of strict tables on
// rules. What IPVS binds to the node stays on rules in any case.
bool is_marked(SourceMode mode, ServiceProxy proxy, api::Dataplane dataplane) {
  if (mode == SourceMode::reply) return true;
  if (mode == SourceMode::load_balancer_ip && proxy == ServiceProxy::ipvs) return false;
  return dataplane == api::Dataplane::marks;
}

// The devices that drop what comes in by them when the way back is chosen by mark.
std::vector<std::string> strict_devices(std::uint32_t table, const api::NodeState::Facts& facts) {
  std::vector<std::string> out;
  for (const auto& filter : facts.reverse_path_filter) {
    if (filter.value == kStrict && std::ranges::find(filter.tables, table) != filter.tables.end()) {
      out.push_back(filter.device);
    }
  }
  return out;
}

Obstacle obstacle_of(SourceMode mode, const api::NodeState::Facts& facts, bool is_dropped) {
  const Sight sight = sight_of(mode, proxy_of(facts));
  if (sight == Sight::never) return Obstacle::never_seen;
  if (mode == SourceMode::reply && facts.conntrack == false) return Obstacle::no_conntrack;
  if (is_dropped) return Obstacle::strict_reverse_path;
  return sight == Sight::unknown ? Obstacle::unknown : Obstacle::none;
}

}  // namespace

ServiceProxy proxy_of(const api::NodeState::Facts& facts) {
  for (const ServiceProxy proxy :
       {ServiceProxy::nftables, ServiceProxy::iptables, ServiceProxy::ipvs, ServiceProxy::none}) {
    if (text(proxy) == names(facts.service_proxy)[static_cast<std::size_t>(facts.service_proxy)]) return proxy;
  }
  return ServiceProxy::unknown;
}

std::optional<std::uint32_t> table_on(const api::IPRule::Spec& spec, const api::NodeState::Facts& facts) {
  if (spec.vrf.empty()) return spec.table;
  const auto vrf = std::ranges::find(facts.vrfs, spec.vrf, &api::NodeState::Vrf::device);
  return vrf != facts.vrfs.end() ? std::optional(vrf->table) : std::nullopt;
}

std::vector<net::Family> families_without_routes(const api::IPRule::Spec& spec,
                                                 const std::vector<net::Prefix>& prefixes,
                                                 const api::NodeState::Status& node) {
  std::vector<net::Family> out;
  const auto table = table_on(spec, node.facts);
  for (const auto& empty : node.empty_tables) {
    const net::Family family = empty.family == api::IPFamily::v4 ? net::Family::v4 : net::Family::v6;
    if (table == empty.table && uses(prefixes, family)) out.push_back(family);
  }
  return out;
}

Prospect prospect_of(const api::IPRule& rule, const std::vector<net::Prefix>& prefixes,
                     const api::NodeState::Status& node, api::Dataplane dataplane) {
  Prospect out{.obstacle = Obstacle::never_seen, .strict_devices = {}, .idle = {}};
  const auto table = table_on(rule.spec, node.facts);
  // There is no rp_filter for IPv6.
  if (table && uses(prefixes, net::Family::v4)) out.strict_devices = strict_devices(*table, node.facts);
  for (const SourceMode mode : rule.modes()) {
    const bool is_dropped = !out.strict_devices.empty() && is_marked(mode, proxy_of(node.facts), dataplane);
    const Obstacle obstacle = obstacle_of(mode, node.facts, is_dropped);
    if (obstacle == Obstacle::never_seen) out.idle.push_back(mode);
    out.obstacle = std::max(out.obstacle, obstacle);
  }
  if (out.obstacle != Obstacle::strict_reverse_path) out.strict_devices.clear();
  return out;
}

}  // namespace intent
