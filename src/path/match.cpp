#include "path/match.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "path/walk.h"

namespace path {
namespace {

// What this host sends comes from loopback, to the rules.
std::string_view iif_name(const Packet& packet) {
  return packet.iif.empty() ? "lo" : packet.iif.text();
}

// Whether the packet has an address in the prefix; one that is not chosen yet is in none.
bool inside(const std::optional<net::Prefix>& prefix, const net::Address& address) {
  return !prefix || (prefix->contains(address) && !(address.is_unspecified() && address.family() == net::Family::v6));
}

bool inside(const std::optional<state::PortRange>& range, std::uint16_t port) {
  return !range || (port >= range->first && port <= range->last);
}

// The first thing in which they differ; empty where there is none.
std::string difference(const state::Rule& rule, const Packet& packet, const state::NetState& observed) {
  const state::Selector& selector = rule.selector;
  if (!selector.iif.empty() && selector.iif.text() != iif_name(packet)) {
    return packet.iif.empty() ? "this host sends it" : fmt::format("it came in by {}", packet.iif.text());
  }
  if (!selector.oif.empty() && selector.oif != packet.oif) return "its socket is not bound to that device";
  if (selector.mark && ((packet.mark ^ selector.mark->value) & selector.mark->mask) != 0) {
    return fmt::format("mark is {:#x}", packet.mark);
  }
  if (rule.l3mdev && vrf_table(observed, packet) == 0) return "it is in no VRF";
  if (selector.uids && (packet.uid < selector.uids->first || packet.uid > selector.uids->last)) {
    return fmt::format("user is {}", packet.uid);
  }
  if (!inside(selector.from, packet.from)) {
    return packet.from.is_unspecified() ? "it has no source yet" : "source is " + packet.from.text();
  }
  if (!inside(selector.to, packet.to)) return "destination is " + packet.to.text();
  if (selector.tos != 0 && selector.tos != packet.tos) return fmt::format("tos is {:#x}", packet.tos);
  if (selector.ip_protocol != 0 && selector.ip_protocol != packet.ip_protocol) {
    return fmt::format("protocol is {}", packet.ip_protocol);
  }
  if (!inside(selector.sport, packet.sport)) return fmt::format("source port is {}", packet.sport);
  if (!inside(selector.dport, packet.dport)) return fmt::format("destination port is {}", packet.dport);
  return "";
}

const state::Link* find_link(const state::NetState& observed, const net::InterfaceName& name) {
  const auto found = std::ranges::find_if(observed.observed_links,
                                          [&](const state::ObservedLink& seen) { return seen.link.name == name; });
  return found != observed.observed_links.end() ? &found->link : nullptr;
}

}  // namespace

std::uint32_t vrf_table(const state::NetState& observed, const Packet& packet) {
  for (const net::InterfaceName& name : {packet.iif, packet.oif}) {
    const state::Link* link = name.empty() ? nullptr : find_link(observed, name);
    if (link != nullptr && link->kind != state::LinkKind::vrf) link = find_link(observed, link->master);
    if (link != nullptr && link->kind == state::LinkKind::vrf) return link->table;
  }
  return 0;
}

bool matches(const state::Rule& rule, const Packet& packet, const state::NetState& observed) {
  return difference(rule, packet, observed).empty() != rule.selector.invert;
}

std::string mismatch(const state::Rule& rule, const Packet& packet, const state::NetState& observed) {
  if (matches(rule, packet, observed)) return "";
  return rule.selector.invert ? "it is what the rule excepts" : difference(rule, packet, observed);
}

}  // namespace path
