#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/interface_name.h"

namespace state {

// What we can make. Everything else a node has (a card, a veth, a bond) is `other`: looked at, never made or removed.
enum class LinkKind : std::uint8_t { other, dummy, vlan, vrf };

enum class VlanProtocol : std::uint8_t { dot1q, dot1ad };

// A tag on the frames of another link. QinQ is one on top of another: the outer with 802.1ad.
struct Vlan {
  net::InterfaceName parent{};
  std::uint16_t id = 0;
  VlanProtocol protocol = VlanProtocol::dot1q;

  auto operator<=>(const Vlan&) const = default;
};

// One `ip link`. Its key is its name.
struct Link {
  net::InterfaceName name{};
  LinkKind kind = LinkKind::other;
  Vlan vlan{};                  // For a vlan.
  std::uint32_t table = 0;      // For a vrf: where its routes are.
  net::InterfaceName master{};  // The vrf, bridge or bond it is in.
  std::uint32_t mtu = 0;        // 0 in a desired link: as it is.
  bool up = false;
  std::string alias{};  // Carries the owner; see own_alias().

  auto operator<=>(const Link&) const = default;
};

inline const net::InterfaceName& key(const Link& link) {
  return link.name;
}

// "iprule:<owner>": what marks a link as ours. Nothing else about a link can say so.
std::string own_alias(std::string_view owner);
// The owner in an alias; none if the link is foreign.
std::optional<std::string_view> owner_of(std::string_view alias);

// Whether the kernel holds what is desired: the same, where an mtu that was not asked for may be any.
bool satisfies(const Link& observed, const Link& desired);

// What the kernel would refuse, or take for something else than it says; the message begins with the field's name.
// For links that somebody desires: those observed are as they are.
base::Status validate(const Link& link);

// In the words of `ip link add`: "eth0.5 link eth0 mtu 1400 up alias iprule:x type vlan protocol 802.1Q id 5".
// parse_link() takes every text() back, as long as the alias has no blank.
std::string text(const Link& link);
base::Result<Link> parse_link(std::string_view text);

// What a bond does with a link.
enum class BondMember : std::uint8_t { none, active, backup };

// A link as the kernel shows it, with what it reports beside the link itself.
struct ObservedLink {
  Link link{};
  std::uint32_t index = 0;
  bool carrier = false;
  BondMember bond = BondMember::none;
  bool bond_link_ok = false;  // The bond's own monitor sees the link.
  std::string opaque{};       // Why it is not only what `link` says: then it equals nothing desired.

  auto operator<=>(const ObservedLink&) const = default;
};

}  // namespace state
