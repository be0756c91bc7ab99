#include "kernel/rtnl/route_hops.h"

#include <algorithm>
#include <array>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <fmt/format.h>

namespace kernel::rtnl {
namespace {

using state::RouteHop;

// struct rtvia with room for the only other family there is.
struct ViaV6 {
  std::uint16_t family = AF_INET6;
  std::array<std::byte, 16> address{};
};
static_assert(sizeof(ViaV6) == 18);

void put_gateway(Message& message, net::Family family, const net::Address& gateway) {
  if (gateway.family() == family) {
    message.put_address(RTA_GATEWAY, gateway);
    return;
  }
  ViaV6 via;
  std::ranges::copy(gateway.bytes(), via.address.begin());
  message.put_struct(RTA_VIA, via);
}

base::Status append_hop(Message& message, net::Family family, const RouteHop& hop, const LinkTable& links) {
  Message attributes(NLMSG_NOOP, 0);  // Only to know their length: struct rtnexthop in front of them carries it.
  if (hop.via) put_gateway(attributes, family, *hop.via);
  const auto tail = attributes.bytes().subspan(NLMSG_HDRLEN);

  rtnexthop header{};
  header.rtnh_len = static_cast<std::uint16_t>(sizeof(header) + tail.size());
  header.rtnh_flags = hop.onlink ? RTNH_F_ONLINK : 0;
  header.rtnh_hops = static_cast<std::uint8_t>(hop.weight - 1);
  header.rtnh_ifindex = static_cast<int>(TRY(require_link(links, hop.dev)));
  message.append_header(std::as_bytes(std::span(&header, 1)));
  if (!tail.empty()) message.append_header(tail);
  return {};
}

void read_device(HopReading& reading, std::uint32_t index, const LinkTable& links) {
  const auto name = links.name_of(index);
  if (!name) reading.unknown = fmt::format("device {}", index);
  reading.hop.dev = name.value_or(net::InterfaceName());
}

void read_gateway(HopReading& reading, std::span<const std::byte> bytes, net::Family family) {
  const auto address = Attribute{.type = RTA_GATEWAY, .value = bytes}.address(family);
  if (!address) reading.unknown = "gateway";
  if (address) reading.hop.via = *address;
}

base::Status read_via(HopReading& reading, const Attribute& attribute) {
  std::uint16_t family = 0;
  if (attribute.value.size() < sizeof(family)) return base::fail(base::Fault::kernel, "cut RTA_VIA");
  std::memcpy(&family, attribute.value.data(), sizeof(family));
  if (family == AF_INET6) {
    read_gateway(reading, attribute.value.subspan(sizeof(family)), net::Family::v6);
  } else {
    reading.unknown = fmt::format("gateway of family {}", family);
  }
  return {};
}

base::Result<HopReading> read_hop(const rtnexthop& header, std::span<const std::byte> rest, net::Family family,
                                  const LinkTable& links) {
  HopReading reading;
  reading.hop.weight = static_cast<std::uint16_t>(header.rtnh_hops + 1);
  reading.hop.onlink = (header.rtnh_flags & RTNH_F_ONLINK) != 0;
  if ((header.rtnh_flags & ~(kHopStatusFlags | RTNH_F_ONLINK)) != 0) {
    reading.unknown = fmt::format("flags {:#x}", header.rtnh_flags);
  }
  read_device(reading, static_cast<std::uint32_t>(header.rtnh_ifindex), links);
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (!TRY(read_hop_attribute(reading, attribute, family, links))) {
      reading.unknown = fmt::format("attribute {}", attribute.type);
    }
  }
  return reading;
}

}  // namespace

base::Status put_hops(Message& message, net::Family family, std::span<const RouteHop> hops, const LinkTable& links) {
  if (hops.empty()) return {};
  if (hops.size() == 1) {
    message.put_u32(RTA_OIF, TRY(require_link(links, hops.front().dev)));
    if (hops.front().via) put_gateway(message, family, *hops.front().via);
    return {};
  }
  base::Status status;
  message.put_nested(RTA_MULTIPATH, [&] {
    for (const RouteHop& hop : hops) {
      if (status) status = append_hop(message, family, hop, links);
    }
  });
  return status;
}

base::Result<bool> read_hop_attribute(HopReading& reading, const Attribute& attribute, net::Family family,
                                      const LinkTable& links) {
  switch (attribute.type) {
    case RTA_OIF:
      read_device(reading, TRY(attribute.u32()), links);
      return true;
    case RTA_GATEWAY:
      read_gateway(reading, attribute.value, family);
      return true;
    case RTA_VIA:
      TRY(read_via(reading, attribute));
      return true;
    default:
      return false;
  }
}

base::Result<std::vector<RouteHop>> read_multipath(std::span<const std::byte> rest, net::Family family,
                                                   const LinkTable& links, std::string& unknown) {
  std::vector<RouteHop> hops;
  while (!rest.empty()) {
    rtnexthop header;
    if (rest.size() < sizeof(header)) return base::fail(base::Fault::kernel, "cut hop of a multipath route");
    std::memcpy(&header, rest.data(), sizeof(header));
    if (header.rtnh_len < sizeof(header) || header.rtnh_len > rest.size()) {
      return base::fail(base::Fault::kernel, fmt::format("hop of {} bytes in {}", header.rtnh_len, rest.size()));
    }
    const auto tail = rest.subspan(sizeof(header), header.rtnh_len - sizeof(header));
    HopReading reading = TRY(read_hop(header, tail, family, links));
    if (unknown.empty()) unknown = std::move(reading.unknown);
    hops.push_back(reading.hop);
    rest = rest.subspan(std::min(rest.size(), static_cast<std::size_t>(NLA_ALIGN(header.rtnh_len))));
  }
  return hops;
}

}  // namespace kernel::rtnl
