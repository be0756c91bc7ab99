#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "net/address.h"
#include "net/interface_name.h"
#include "state/net_state.h"

namespace state {

// Who translates Service addresses on the node.
enum class ServiceProxy : std::uint8_t {
  unknown,
  nftables,  // kube-proxy's own table.
  iptables,  // kube-proxy's chains under iptables-nft.
  ipvs,
  none,  // None of these was seen: an eBPF data path, or no cluster.
};
constexpr std::string_view text(ServiceProxy proxy) {
  switch (proxy) {
    case ServiceProxy::unknown:
      return "";
    case ServiceProxy::nftables:
      return "nftables";
    case ServiceProxy::iptables:
      return "iptables";
    case ServiceProxy::ipvs:
      return "ipvs";
    case ServiceProxy::none:
      return "none";
  }
  return "";
}

// The routes of one family in a table that somebody looks up.
struct TableUse {
  std::uint32_t table = 0;
  net::Family family = net::Family::v4;
  std::size_t routes = 0;                  // 0: lookups fall through to the next rule.
  std::set<net::InterfaceName> devices{};  // By which they lead out.

  bool operator==(const TableUse&) const = default;
};

// What the kernel was seen to do, by trying it; nothing where it could not be tried.
struct Capabilities {
  std::optional<bool> rule_protocol{};  // A rule keeps the number of who made it: without it nothing is known as ours.
  std::optional<bool> nexthop_objects{};   // Routes may share nexthops.
  std::optional<bool> address_protocol{};  // An address keeps the number of who made it, too.
  std::optional<bool> nft_maps{};          // nftables finds a chain by a packet's address.
  std::optional<bool> ct_original{};       // nftables knows where a connection went before it was translated.

  bool operator==(const Capabilities&) const = default;
};
std::string text(const Capabilities& capabilities);  // "rule protocol: yes, nexthop objects: unknown, ..."

// What a node shows about its data path, found by looking. What could not be found is unknown or absent, never a guess.
struct NodeFacts {
  std::string kernel{};  // As `uname -r` says.
  ServiceProxy service_proxy = ServiceProxy::unknown;
  std::optional<bool> conntrack{};                     // Whether the kernel follows connections.
  std::optional<bool> nftables{};                      // Whether the kernel has nftables, which marks and replies need.
  std::optional<std::uint32_t> local_rule_priority{};  // Of the IPv4 rule that looks up `local`; some move it from 0.
  std::map<net::InterfaceName, int> reverse_path_filter{};  // In effect: the larger of the device's and that of `all`.
  std::set<net::Address> bound{};     // Every address of the node, VIPs on loopback or kube-ipvs0 included.
  std::set<net::Address> own{};       // Those of them it talks from: addresses with a subnet on a card, bond or VLAN.
  std::set<net::Address> gateways{};  // Where it sends what it has no better route for.
  std::map<net::InterfaceName, std::uint32_t> vrfs{};  // The table of each VRF device.
  std::vector<TableUse> tables{};                      // The tables asked for, by table and family.
  bool cilium = false;                                 // Its data path is there, which has marks of its own.
  Capabilities capabilities{};

  bool operator==(const NodeFacts&) const = default;
};

// The part of the facts that rules, links, addresses and routes show. `observed` must have been read with the routes of
// `tables`.
NodeFacts facts_of(const NetState& observed, const std::set<std::uint32_t>& tables);

}  // namespace state
