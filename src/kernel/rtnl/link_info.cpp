#include "kernel/rtnl/link_info.h"

#include <arpa/inet.h>
#include <array>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_vlan.h>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernel/netlink/attribute.h"

namespace kernel::rtnl {
namespace {

using state::Link;
using state::LinkKind;
using state::ObservedLink;

constexpr std::array<std::pair<LinkKind, std::string_view>, 3> kKinds = {
    {{LinkKind::dummy, "dummy"}, {LinkKind::vlan, "vlan"}, {LinkKind::vrf, "vrf"}}};

std::string_view wire_kind(LinkKind kind) {
  for (const auto& [known, name] : kKinds) {
    if (known == kind) return name;
  }
  return {};
}

LinkKind kind_of(std::string_view name) {
  for (const auto& [kind, known] : kKinds) {
    if (known == name) return kind;
  }
  return LinkKind::other;
}

void strange(ObservedLink& into, std::string what) {
  if (into.opaque.empty()) into.opaque = std::move(what);
}

void put_data(Message& message, const Link& link) {
  if (link.kind == LinkKind::vlan) {
    const auto protocol = link.vlan.protocol == state::VlanProtocol::dot1q ? ETH_P_8021Q : ETH_P_8021AD;
    message.put_u16(IFLA_VLAN_PROTOCOL, htons(static_cast<std::uint16_t>(protocol)));
    message.put_u16(IFLA_VLAN_ID, link.vlan.id);
  } else if (link.kind == LinkKind::vrf) {
    message.put_u32(IFLA_VRF_TABLE, link.table);
  }
}

base::Status read_vlan(ObservedLink& into, const Attribute& attribute) {
  switch (attribute.type) {
    case IFLA_VLAN_ID:
      into.link.vlan.id = TRY(attribute.u16());
      return {};
    case IFLA_VLAN_PROTOCOL: {
      const std::uint16_t protocol = ntohs(TRY(attribute.u16()));
      if (protocol != ETH_P_8021Q && protocol != ETH_P_8021AD) strange(into, fmt::format("vlan protocol {}", protocol));
      into.link.vlan.protocol = protocol == ETH_P_8021AD ? state::VlanProtocol::dot1ad : state::VlanProtocol::dot1q;
      return {};
    }
    case IFLA_VLAN_FLAGS: {
      const auto flags = TRY(attribute.read<ifla_vlan_flags>());
      if (flags.flags != VLAN_FLAG_REORDER_HDR) strange(into, fmt::format("vlan flags {:#x}", flags.flags));
      return {};
    }
    default:
      strange(into, fmt::format("vlan attribute {}", attribute.type));
      return {};
  }
}

base::Status read_data(ObservedLink& into, std::span<const std::byte> rest) {
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (into.link.kind == LinkKind::vlan) {
      TRY(read_vlan(into, attribute));
    } else if (into.link.kind == LinkKind::vrf && attribute.type == IFLA_VRF_TABLE) {
      into.link.table = TRY(attribute.u32());
    } else if (into.link.kind != LinkKind::other) {
      strange(into, fmt::format("attribute {} of the kind", attribute.type));
    }
  }
  return {};
}

base::Status read_bond_member(ObservedLink& into, std::span<const std::byte> rest) {
  constexpr std::uint8_t kActive = 0;  // enum in linux/if_bonding.h: BOND_STATE_ACTIVE, BOND_LINK_UP.
  constexpr std::uint8_t kLinkUp = 0;
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (attribute.type == IFLA_BOND_SLAVE_STATE) {
      into.bond = TRY(attribute.u8()) == kActive ? state::BondMember::active : state::BondMember::backup;
    } else if (attribute.type == IFLA_BOND_SLAVE_MII_STATUS) {
      into.bond_link_ok = TRY(attribute.u8()) == kLinkUp;
    }
  }
  return {};
}

}  // namespace

void put_link_info(Message& message, const Link& link) {
  message.put_nested(IFLA_LINKINFO, [&] {
    message.put_text(IFLA_INFO_KIND, wire_kind(link.kind));
    message.put_nested(IFLA_INFO_DATA, [&] { put_data(message, link); });
  });
}

base::Status read_link_info(ObservedLink& into, std::span<const std::byte> rest) {
  std::span<const std::byte> data;
  std::span<const std::byte> member_data;
  std::string_view member_kind;
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (attribute.type == IFLA_INFO_KIND) into.link.kind = kind_of(TRY(attribute.text()));
    if (attribute.type == IFLA_INFO_DATA) data = attribute.value;
    if (attribute.type == IFLA_INFO_SLAVE_KIND) member_kind = TRY(attribute.text());
    if (attribute.type == IFLA_INFO_SLAVE_DATA) member_data = attribute.value;
  }
  TRY(read_data(into, data));
  if (member_kind == "bond") TRY(read_bond_member(into, member_data));
  return {};
}

}  // namespace kernel::rtnl
