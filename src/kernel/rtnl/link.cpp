#include "kernel/rtnl/link.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>

#include "kernel/rtnl/link_info.h"

namespace kernel::rtnl {
namespace {

using state::Link;
using state::LinkKind;
using state::ObservedLink;

base::Status require_own(std::string_view alias, const net::InterfaceName& name) {
  if (state::owner_of(alias)) return {};
  return base::fail(base::Fault::bug,
                    fmt::format("refused to change link {}, which is not marked as ours", name.text()));
}

base::Result<Message> encode_create(const Link& link, const LinkTable& links) {
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});
  message.put_text(IFLA_IFNAME, link.name.text());
  if (link.kind == LinkKind::vlan) message.put_u32(IFLA_LINK, TRY(require_link(links, link.vlan.parent)));
  put_link_info(message, link);
  return message;
}

Message encode_mark(const Link& link) {
  Message message(RTM_NEWLINK, 0, ifinfomsg{});
  message.put_text(IFLA_IFNAME, link.name.text());
  message.put_bytes(IFLA_IFALIAS, std::as_bytes(std::span(link.alias)));
  return message;
}

base::Status put_settings(Message& message, const Link& link, const LinkTable& links) {
  if (link.mtu != 0) message.put_u32(IFLA_MTU, link.mtu);
  message.put_u32(IFLA_MASTER, link.master.empty() ? 0 : TRY(require_link(links, link.master)));
  return {};
}

ifinfomsg settings_header(const Link& link) {
  ifinfomsg header{};
  header.ifi_flags = link.up ? IFF_UP : 0;
  header.ifi_change = IFF_UP;
  return header;
}

Message encode_removal(std::uint32_t index) {
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(index);
  return Message(RTM_DELLINK, 0, header);
}

// Undoes a creation whose mark failed, by name: it is ours for a moment only.
base::Status remove_unmarked(Socket& socket, const net::InterfaceName& name) {
  Message message(RTM_DELLINK, 0, ifinfomsg{});
  message.put_text(IFLA_IFNAME, name.text());
  return socket.transact(std::move(message));
}

// Devices are indices on the wire; names come from the same dump, so after all of it was read.
struct Wire {
  ObservedLink seen{};
  std::uint32_t parent = 0;
  std::uint32_t master = 0;
};

base::Result<Wire> decode(const Received& message) {
  std::span<const std::byte> rest = message.payload;
  const auto header = TRY(take_header<ifinfomsg>(rest));
  Wire wire;
  wire.seen.index = static_cast<std::uint32_t>(header.ifi_index);
  wire.seen.link.up = (header.ifi_flags & IFF_UP) != 0;
  wire.seen.carrier = (header.ifi_flags & IFF_LOWER_UP) != 0;
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    switch (attribute.type) {
      case IFLA_IFNAME: {
        const std::string_view name = TRY(attribute.text());
        wire.seen.link.name = TRY(net::InterfaceName::parse(name));
        break;
      }
      case IFLA_MTU:
        wire.seen.link.mtu = TRY(attribute.u32());
        break;
      case IFLA_LINK:
        wire.parent = TRY(attribute.u32());
        break;
      case IFLA_MASTER:
        wire.master = TRY(attribute.u32());
        break;
      case IFLA_IFALIAS:
        wire.seen.link.alias = std::string(TRY(attribute.text()));
        break;
      case IFLA_LINKINFO:
        TRY(read_link_info(wire.seen, attribute.value));
        break;
      default:
        break;  // A link reports some sixty things; those that define a kind are in IFLA_LINKINFO.
    }
  }
  if (wire.seen.link.name.empty()) return base::fail(base::Fault::kernel, "link without a name");
  return wire;
}

void name_devices(Wire& wire, const LinkTable& links) {
  Link& link = wire.seen.link;
  if (wire.master != 0) link.master = links.name_of(wire.master).value_or(net::InterfaceName());
  if (link.kind == LinkKind::vlan) link.vlan.parent = links.name_of(wire.parent).value_or(net::InterfaceName());
  // Another namespace's, perhaps.
  const bool nameless =
      (wire.master != 0 && link.master.empty()) || (link.kind == LinkKind::vlan && link.vlan.parent.empty());
  if (nameless && wire.seen.opaque.empty()) wire.seen.opaque = "device without a name";
}

}  // namespace

base::Result<std::vector<Message>> encode_add(const Link& link, const LinkTable& links) {
  TRY(require_own(link.alias, link.name));
  std::vector<Message> out;
  out.push_back(TRY(encode_create(link, links)));
  out.push_back(encode_mark(link));
  Message settings(RTM_NEWLINK, 0, settings_header(link));
  settings.put_text(IFLA_IFNAME, link.name.text());
  TRY(put_settings(settings, link, links));
  out.push_back(std::move(settings));
  return out;
}

base::Status add_link(Socket& socket, const Link& link, const LinkTable& links) {
  std::vector<Message> messages = TRY(encode_add(link, links));
  const auto statuses = socket.transact_all(std::span(messages).first(2));
  if (!statuses[0]) return statuses[0];
  if (!statuses[1]) {
    TRY(remove_unmarked(socket, link.name));
    return statuses[1];
  }
  return socket.transact(std::move(messages[2]));
}

base::Result<Message> encode_set(const ObservedLink& own, const Link& desired, const LinkTable& links) {
  TRY(require_own(own.link.alias, own.link.name));
  ifinfomsg header = settings_header(desired);
  header.ifi_index = static_cast<int>(own.index);
  if (header.ifi_index == 0) return base::fail(base::Fault::bug, "refused to change a link without its index");
  Message message(RTM_NEWLINK, 0, header);
  TRY(put_settings(message, desired, links));
  return message;
}

base::Result<Message> encode_remove(const ObservedLink& own) {
  TRY(require_own(own.link.alias, own.link.name));
  if (own.index == 0) return base::fail(base::Fault::bug, "refused to remove a link without its index");
  return encode_removal(own.index);
}

base::Result<ObservedLink> decode_link(const Received& message) {
  return TRY(decode(message)).seen;
}

base::Result<std::vector<ObservedLink>> read_links(Socket& socket) {
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    std::vector<Wire> wires;
    const auto take = [&](const Received& message) -> base::Status {
      if (message.type == RTM_NEWLINK) wires.push_back(TRY(decode(message)));
      return {};
    };
    const auto dump = TRY(socket.dump(Message(RTM_GETLINK, 0, ifinfomsg{}), take));
    if (dump.interrupted) continue;
    LinkTable links;
    for (const Wire& wire : wires) links.add(wire.seen.index, wire.seen.link.name);
    std::vector<ObservedLink> out;
    for (Wire& wire : wires) {
      name_devices(wire, links);
      out.push_back(std::move(wire.seen));
    }
    std::ranges::sort(out, {}, &ObservedLink::index);
    return out;
  }
  return base::fail(base::Fault::unavailable, "links change faster than they can be read");
}

LinkTable table_of(const std::vector<ObservedLink>& links) {
  LinkTable out;
  for (const ObservedLink& seen : links) out.add(seen.index, seen.link.name);
  return out;
}

}  // namespace kernel::rtnl
