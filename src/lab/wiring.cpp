#include "lab/wiring.h"

#include <cstdio>
#include <cstdlib>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <string>
#include <sys/socket.h>

#include <fmt/format.h>

#include "kernel/netlink/message.h"

namespace lab {
namespace {

using kernel::Message;
using kernel::Received;

unsigned char af(net::Family family) {
  return family == net::Family::v4 ? AF_INET : AF_INET6;
}

template <typename T>
base::Result<T> about(std::string_view what, std::string_view link, base::Result<T> result) {
  return base::within(fmt::format("{} {}", what, link), std::move(result));
}

Message new_link(std::string_view name) {
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});
  message.put_text(IFLA_IFNAME, name);
  return message;
}

// The link as the kernel describes it; `visit` gets header and attributes.
base::Status read_link(kernel::Socket& rtnl, std::string_view name, const kernel::Socket::Visit& visit) {
  Message message(RTM_GETLINK, 0, ifinfomsg{});
  message.put_text(IFLA_IFNAME, name);
  return rtnl.transact(std::move(message), visit);
}

base::Result<unsigned> index_of(kernel::Socket& rtnl, std::string_view name) {
  unsigned index = 0;
  const auto take_index = [&](const Received& answer) -> base::Status {
    auto rest = answer.payload;
    index = static_cast<unsigned>(TRY(kernel::take_header<ifinfomsg>(rest)).ifi_index);
    return {};
  };
  TRY(read_link(rtnl, name, take_index));
  return index;
}

base::Result<Message> address_message(kernel::Socket& rtnl, std::uint16_t type, std::uint16_t flags,
                                      std::string_view link, const InterfaceAddress& address) {
  ifaddrmsg header{};
  header.ifa_family = af(address.address.family());
  header.ifa_prefixlen = static_cast<unsigned char>(address.length);
  header.ifa_index = TRY(index_of(rtnl, link));
  Message message(type, flags, header);
  message.put_address(IFA_LOCAL, address.address);
  message.put_address(IFA_ADDRESS, address.address);
  if (address.address.family() == net::Family::v6) message.put_u32(IFA_FLAGS, IFA_F_NODAD);
  return message;
}

bool leaves(const rtmsg& route) {
  return route.rtm_dst_len == 0 && route.rtm_type == RTN_UNICAST;
}

}  // namespace

base::Status add_bridge(kernel::Socket& rtnl, std::string_view name) {
  Message message = new_link(name);
  message.put_nested(IFLA_LINKINFO, [&] { message.put_text(IFLA_INFO_KIND, "bridge"); });
  return about("add bridge", name, rtnl.transact(std::move(message)));
}

base::Status add_veth(kernel::Socket& rtnl, std::string_view name, std::string_view peer, int peer_namespace) {
  Message message = new_link(name);
  message.put_nested(IFLA_LINKINFO, [&] {
    message.put_text(IFLA_INFO_KIND, "veth");
    message.put_nested(IFLA_INFO_DATA, [&] {
      message.put_nested(VETH_INFO_PEER, [&] {
        const ifinfomsg header{};
        message.append_header(std::as_bytes(std::span(&header, 1)));
        message.put_text(IFLA_IFNAME, peer);
        message.put_u32(IFLA_NET_NS_FD, static_cast<std::uint32_t>(peer_namespace));
      });
    });
  });
  return about("add link", name, rtnl.transact(std::move(message)));
}

base::Status attach(kernel::Socket& rtnl, std::string_view link, std::string_view bridge) {
  Message message(RTM_SETLINK, 0, ifinfomsg{});
  message.put_text(IFLA_IFNAME, link);
  message.put_u32(IFLA_MASTER, TRY(about("find bridge", bridge, index_of(rtnl, bridge))));
  return about("attach link", link, rtnl.transact(std::move(message)));
}

base::Status set_up(kernel::Socket& rtnl, std::string_view link, bool up) {
  ifinfomsg header{};
  header.ifi_flags = up ? static_cast<unsigned>(IFF_UP) : 0U;
  header.ifi_change = IFF_UP;
  Message message(RTM_SETLINK, 0, header);
  message.put_text(IFLA_IFNAME, link);
  return about(up ? "set up link" : "set down link", link, rtnl.transact(std::move(message)));
}

base::Status remove_link(kernel::Socket& rtnl, std::string_view link) {
  Message message(RTM_DELLINK, 0, ifinfomsg{});
  message.put_text(IFLA_IFNAME, link);
  return about("remove link", link, rtnl.transact(std::move(message)));
}

InterfaceAddress InterfaceAddress::of(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = net::Address::parse(text.substr(0, slash));
  const auto prefix = net::Prefix::parse(text);
  if (!address || !prefix) {
    std::fprintf(stderr, "not an interface address: %s\n", std::string(text).c_str());
    std::abort();
  }
  return {.address = *address, .length = prefix->length()};
}

base::Status add_address(kernel::Socket& rtnl, std::string_view link, const InterfaceAddress& address) {
  auto message = address_message(rtnl, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, link, address);
  if (!message) return std::unexpected(message.error());
  return about("add address to", link, rtnl.transact(*std::move(message)));
}

base::Status remove_address(kernel::Socket& rtnl, std::string_view link, const InterfaceAddress& address) {
  auto message = address_message(rtnl, RTM_DELADDR, 0, link, address);
  if (!message) return std::unexpected(message.error());
  return about("remove address of", link, rtnl.transact(*std::move(message)));
}

base::Status add_route(kernel::Socket& rtnl, const WorldRoute& route) {
  rtmsg header{};
  header.rtm_family = af(route.destination.family());
  header.rtm_dst_len = static_cast<unsigned char>(route.destination.length());
  header.rtm_protocol = RTPROT_STATIC;
  header.rtm_scope = route.gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
  header.rtm_type = RTN_UNICAST;
  Message message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, header);
  if (route.destination.length() > 0) message.put_address(RTA_DST, route.destination.address());
  if (route.gateway) message.put_address(RTA_GATEWAY, *route.gateway);
  message.put_u32(RTA_OIF, TRY(about("find link", route.link, index_of(rtnl, route.link))));
  message.put_u32(RTA_TABLE, route.table);
  return about("add route", route.destination.text(), rtnl.transact(std::move(message)));
}

base::Result<PacketCount> count_packets(kernel::Socket& rtnl, std::string_view link) {
  PacketCount count;
  const auto take_count = [&](const Received& answer) -> base::Status {
    auto rest = answer.payload;
    TRY(kernel::take_header<ifinfomsg>(rest));
    while (!rest.empty()) {
      const kernel::Attribute attribute = TRY(kernel::next_attribute(rest));
      if (attribute.type != IFLA_STATS64) continue;
      auto value = attribute.value;
      const auto stats = TRY(kernel::take_header<rtnl_link_stats64>(value));
      count = {.received = stats.rx_packets, .sent = stats.tx_packets};
    }
    return {};
  };
  TRY(about("count packets of", link, read_link(rtnl, link, take_count)));
  return count;
}

base::Status require_no_default_route(kernel::Socket& rtnl) {
  for (const net::Family family : {net::Family::v4, net::Family::v6}) {
    rtmsg filter{};
    filter.rtm_family = af(family);
    bool found = false;
    const auto look = [&](const Received& answer) -> base::Status {
      auto rest = answer.payload;
      found |= leaves(TRY(kernel::take_header<rtmsg>(rest)));
      return {};
    };
    TRY(rtnl.dump(Message(RTM_GETROUTE, 0, filter), look));
    if (found)
      return base::fail(base::Fault::denied,
                        fmt::format("there is an {} default route: packets could leave this namespace", text(family)));
  }
  return {};
}

}  // namespace lab
