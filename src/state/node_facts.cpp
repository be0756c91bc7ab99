#include "state/node_facts.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "state/known_numbers.h"

namespace state {
namespace {

// Addresses on these are there to be answered for, not to talk from.
bool holds_only_vips(const net::InterfaceName& dev, const std::map<net::InterfaceName, LinkKind>& kinds) {
  if (dev.text() == "lo" || dev.text() == "kube-ipvs0") return true;
  const auto kind = kinds.find(dev);
  return kind != kinds.end() && kind->second == LinkKind::dummy;
}

void note_addresses(NodeFacts& out, const NetState& observed) {
  std::map<net::InterfaceName, LinkKind> kinds;
  for (const ObservedLink& seen : observed.observed_links) kinds.emplace(seen.link.name, seen.link.kind);
  const auto note = [&](const net::InterfaceName& dev, const net::Address& address, int length) {
    out.bound.insert(address);
    if (length < address.bits() && !holds_only_vips(dev, kinds)) out.own.insert(address);
  };
  for (const InterfaceAddress& address : observed.addresses) note(address.dev, address.local, address.length);
  // A lease: opaque for its end, and yet the node's.
  for (const OpaqueAddress& address : observed.opaque_addresses) {
    note(address.key.dev, address.key.local, address.key.length);
  }
}

class NexthopDevices {
 public:
  explicit NexthopDevices(const std::vector<Nexthop>& nexthops) {
    for (const Nexthop& nexthop : nexthops) by_id_.emplace(nexthop.id, &nexthop);
  }
  void add(std::uint32_t id, std::set<net::InterfaceName>& into) const {
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return;
    if (!found->second->dev.empty()) into.insert(found->second->dev);
    for (const NexthopMember& member : found->second->group) {  // The kernel has no groups of groups.
      if (const auto one = by_id_.find(member.id); one != by_id_.end()) into.insert(one->second->dev);
    }
  }

 private:
  std::unordered_map<std::uint32_t, const Nexthop*> by_id_;
};

void note_tables(NodeFacts& out, const NetState& observed, const std::set<std::uint32_t>& tables) {
  std::map<std::pair<std::uint32_t, net::Family>, TableUse> uses;
  for (const std::uint32_t table : tables) {
    for (const auto family : {net::Family::v4, net::Family::v6}) {
      uses[{table, family}] = {.table = table, .family = family};
    }
  }
  const NexthopDevices nexthops(observed.nexthops);
  for (const Route& route : observed.routes) {
    const auto use = uses.find({route.table, route.family});
    if (use == uses.end()) continue;
    ++use->second.routes;
    if (route.nexthop != 0) nexthops.add(route.nexthop, use->second.devices);
    for (const RouteHop& hop : route.hops) {
      if (!hop.dev.empty()) use->second.devices.insert(hop.dev);
    }
  }
  for (const OpaqueRoute& route : observed.opaque_routes) {
    if (const auto use = uses.find({route.key.table, route.key.family}); use != uses.end()) ++use->second.routes;
  }
  for (auto& [place, use] : uses) out.tables.push_back(std::move(use));
}

// Cilium's own pair of links, and the tables to which it leads packets that it has marked.
bool shows_cilium(const NetState& observed) {
  const auto is_its_link = [](const ObservedLink& seen) { return seen.link.name.text() == "cilium_host"; };
  const auto is_its_rule = [&](const Rule& rule) {
    return rule.selector.mark && rule.selector.mark->mask == kCiliumMark &&
           uses(kCilium, KnownNumber::Kind::table, rule.table);
  };
  return std::ranges::any_of(observed.observed_links, is_its_link) || std::ranges::any_of(observed.rules, is_its_rule);
}

bool looks_up_local(const Rule& rule) {
  return rule.family == net::Family::v4 && rule.action == RuleAction::lookup && rule.table == kTableLocal &&
         rule.selector == Selector();
}

}  // namespace

std::string text(const Capabilities& capabilities) {
  const std::array<std::pair<std::string_view, std::optional<bool>>, 5> all = {{
      {"rule protocol", capabilities.rule_protocol},
      {"nexthop objects", capabilities.nexthop_objects},
      {"address protocol", capabilities.address_protocol},
      {"nft maps", capabilities.nft_maps},
      {"ct original", capabilities.ct_original},
  }};
  std::string out;
  for (const auto& [name, can] : all) {
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", name, !can ? "unknown" : *can ? "yes" : "no");
  }
  return out;
}

NodeFacts facts_of(const NetState& observed, const std::set<std::uint32_t>& tables) {
  NodeFacts out;
  const auto local = std::ranges::find_if(observed.rules, looks_up_local);
  if (local != observed.rules.end()) out.local_rule_priority = local->priority;
  note_addresses(out, observed);
  for (const ObservedLink& seen : observed.observed_links) {
    if (seen.link.kind == LinkKind::vrf) out.vrfs.emplace(seen.link.name, seen.link.table);
  }
  note_tables(out, observed, tables);
  out.cilium = shows_cilium(observed);
  return out;
}

}  // namespace state
