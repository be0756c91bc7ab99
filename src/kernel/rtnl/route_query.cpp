#include "kernel/rtnl/route_query.h"

#include <array>
#include <bit>
#include <cerrno>
#include <linux/rtnetlink.h>
#include <utility>

#include <fmt/format.h>

#include "kernel/netlink/family.h"

namespace kernel::rtnl {
namespace {

using path::Packet;
using path::Verdict;

std::uint16_t network_order(std::uint16_t value) {
  static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big);
  if constexpr (std::endian::native == std::endian::big) return value;
  return static_cast<std::uint16_t>((value << 8U) | (value >> 8U));
}

base::Result<Verdict::Kind> kind_of(std::uint8_t type) {
  constexpr std::array<std::pair<std::uint8_t, Verdict::Kind>, 8> kKinds = {
      {{RTN_UNICAST, Verdict::Kind::leaves},
       {RTN_LOCAL, Verdict::Kind::delivered},
       {RTN_BROADCAST, Verdict::Kind::broadcast},
       {RTN_ANYCAST, Verdict::Kind::anycast},
       {RTN_MULTICAST, Verdict::Kind::multicast},
       {RTN_BLACKHOLE, Verdict::Kind::dropped},
       {RTN_PROHIBIT, Verdict::Kind::prohibited},
       {RTN_UNREACHABLE, Verdict::Kind::unreachable}}};
  for (const auto& [known, kind] : kKinds) {
    if (known == type) return kind;
  }
  return base::fail(base::Fault::kernel, fmt::format("route of type {} in an answer", type));
}

// The gateway: RTA_GATEWAY in the route's family, RTA_VIA in the other.
base::Status read_gateway(const Attribute& attribute, net::Family family, state::RouteHop& hop) {
  if (attribute.type == RTA_GATEWAY) {
    hop.via = TRY(attribute.address(family));
    return {};
  }
  std::span<const std::byte> rest = attribute.value;
  if (rest.size() < sizeof(rtvia)) return base::fail(base::Fault::kernel, "RTA_VIA too short");
  hop.via = TRY(net::Address::from_bytes(rest.subspan(sizeof(rtvia))));
  return {};
}

}  // namespace

base::Result<Message> encode_route_query(const Packet& packet, const LinkTable& links) {
  rtmsg header{};
  header.rtm_family = wire_family(packet.to.family());
  header.rtm_dst_len = static_cast<std::uint8_t>(packet.to.bits());
  header.rtm_src_len = packet.from.is_unspecified() ? 0 : static_cast<std::uint8_t>(packet.from.bits());
  header.rtm_tos = packet.tos;
  // Say which table answered; IPv6 always does, and refuses to be asked.
  header.rtm_flags = packet.to.family() == net::Family::v4 ? RTM_F_LOOKUP_TABLE : 0;
  Message message(RTM_GETROUTE, 0, header);
  message.put_address(RTA_DST, packet.to);
  if (!packet.from.is_unspecified()) message.put_address(RTA_SRC, packet.from);
  if (!packet.iif.empty()) message.put_u32(RTA_IIF, TRY(require_link(links, packet.iif)));
  if (!packet.oif.empty()) message.put_u32(RTA_OIF, TRY(require_link(links, packet.oif)));
  if (packet.mark != 0) message.put_u32(RTA_MARK, packet.mark);
  message.put_u32(RTA_UID, packet.uid);
  if (packet.ip_protocol != 0) message.put_u8(RTA_IP_PROTO, packet.ip_protocol);
  if (packet.sport != 0) message.put_u16(RTA_SPORT, network_order(packet.sport));
  if (packet.dport != 0) message.put_u16(RTA_DPORT, network_order(packet.dport));
  return message;
}

base::Result<Verdict> decode_route_answer(const Received& message, const LinkTable& links) {
  std::span<const std::byte> rest = message.payload;
  const auto header = TRY(take_header<rtmsg>(rest));
  const net::Family family = TRY(family_of(header.rtm_family));
  Verdict verdict{.kind = TRY(kind_of(header.rtm_type)), .table = header.rtm_table};
  state::RouteHop hop;
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (attribute.type == RTA_TABLE) verdict.table = TRY(attribute.u32());
    if (attribute.type == RTA_OIF) hop.dev = links.name_of(TRY(attribute.u32())).value_or(net::InterfaceName());
    if (attribute.type == RTA_GATEWAY || attribute.type == RTA_VIA) TRY(read_gateway(attribute, family, hop));
  }
  if (verdict.kind == Verdict::Kind::leaves) verdict.hops.push_back(hop);
  return verdict;
}

base::Result<Verdict> ask_route(Socket& socket, const Packet& packet, const LinkTable& links) {
  base::Result<Verdict> answer = base::fail(base::Fault::kernel, "the kernel gave no answer to a route query");
  const auto status = socket.transact(TRY(encode_route_query(packet, links)), [&](const Received& message) {
    if (message.type == RTM_NEWROUTE) answer = decode_route_answer(message, links);
    return base::Status();
  });
  if (status) return answer;
  switch (status.error().errno_value()) {
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ESRCH:
      return Verdict{.kind = Verdict::Kind::unreachable};
    case EACCES:
      return Verdict{.kind = Verdict::Kind::prohibited};
    case EINVAL:
    case EXDEV:  // The reverse path filter.
      return Verdict{.kind = Verdict::Kind::dropped};
    default:
      return std::unexpected(status.error());
  }
}

}  // namespace kernel::rtnl
