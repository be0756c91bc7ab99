#include "kernel/rtnl/route.h"

#include <algorithm>
#include <array>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include "kernel/netlink/family.h"
#include "kernel/rtnl/route_hops.h"

namespace kernel::rtnl {
namespace {

using state::MetricKind;
using state::Route;
using state::RouteType;

constexpr std::array<std::pair<RouteType, std::uint8_t>, 9> kTypes = {{
    {RouteType::unicast, RTN_UNICAST},
    {RouteType::local, RTN_LOCAL},
    {RouteType::broadcast, RTN_BROADCAST},
    {RouteType::anycast, RTN_ANYCAST},
    {RouteType::multicast, RTN_MULTICAST},
    {RouteType::blackhole, RTN_BLACKHOLE},
    {RouteType::unreachable, RTN_UNREACHABLE},
    {RouteType::prohibit, RTN_PROHIBIT},
    {RouteType::throw_back, RTN_THROW},
}};

constexpr std::array<std::pair<MetricKind, std::uint16_t>, 11> kMetrics = {{
    {MetricKind::mtu, RTAX_MTU},
    {MetricKind::window, RTAX_WINDOW},
    {MetricKind::ssthresh, RTAX_SSTHRESH},
    {MetricKind::cwnd, RTAX_CWND},
    {MetricKind::advmss, RTAX_ADVMSS},
    {MetricKind::reordering, RTAX_REORDERING},
    {MetricKind::hoplimit, RTAX_HOPLIMIT},
    {MetricKind::initcwnd, RTAX_INITCWND},
    {MetricKind::initrwnd, RTAX_INITRWND},
    {MetricKind::quickack, RTAX_QUICKACK},
    {MetricKind::fastopen_no_cookie, RTAX_FASTOPEN_NO_COOKIE},
}};

// RFC 4191, as ICMPV6_ROUTER_PREF_*.
constexpr std::array<std::pair<state::RoutePreference, std::uint8_t>, 3> kPreferences = {{
    {state::RoutePreference::medium, 0},
    {state::RoutePreference::high, 1},
    {state::RoutePreference::low, 3},
}};

template <typename Table, typename Value>
auto wire_value(const Table& table, Value value) {
  return std::ranges::find(table, value, &Table::value_type::first)->second;
}

template <typename Table, typename Wire>
auto meaning(const Table& table, Wire wire) -> std::optional<typename Table::value_type::first_type> {
  const auto found = std::ranges::find(table, wire, &Table::value_type::second);
  return found == table.end() ? std::nullopt : std::optional(found->first);
}

// Flags of the whole route that report on it and are no part of it.
constexpr std::uint32_t kStatusFlags =
    kHopStatusFlags | RTM_F_NOTIFY | RTM_F_PREFIX | RTM_F_OFFLOAD | RTM_F_TRAP | RTM_F_OFFLOAD_FAILED;

rtmsg wire_header(const Route& route) {
  rtmsg header{};
  header.rtm_family = wire_family(route.family);
  header.rtm_dst_len = static_cast<std::uint8_t>(route.to.length());
  header.rtm_src_len = static_cast<std::uint8_t>(route.from ? route.from->length() : 0);
  header.rtm_tos = route.tos;
  header.rtm_table = RT_TABLE_UNSPEC;  // RTA_TABLE carries all 32 bits.
  header.rtm_protocol = route.protocol;
  header.rtm_scope = route.scope;
  header.rtm_type = wire_value(kTypes, route.type);
  if (route.hops.size() == 1 && route.hops.front().onlink) header.rtm_flags = RTNH_F_ONLINK;
  return header;
}

void put_metrics(Message& message, const std::vector<state::RouteMetric>& metrics) {
  if (metrics.empty()) return;
  message.put_nested(RTA_METRICS, [&] {
    std::uint32_t locked = 0;
    for (const auto& metric : metrics) {
      const std::uint16_t type = wire_value(kMetrics, metric.kind);
      if (metric.locked) locked |= 1U << type;
      message.put_u32(type, metric.value);
    }
    if (locked != 0) message.put_u32(RTAX_LOCK, locked);
  });
}

base::Result<Message> encode(std::uint16_t type, std::uint16_t flags, const Route& route, const LinkTable& links) {
  Message message(type, flags, wire_header(route));
  if (route.to.length() > 0) message.put_address(RTA_DST, route.to.address());
  if (route.from) message.put_address(RTA_SRC, route.from->address());
  message.put_u32(RTA_TABLE, route.table);
  message.put_u32(RTA_PRIORITY, route.metric);
  if (route.source) message.put_address(RTA_PREFSRC, *route.source);
  if (route.nexthop != 0) message.put_u32(RTA_NH_ID, route.nexthop);
  if (route.preference != state::RoutePreference::medium) {
    message.put_u8(RTA_PREF, wire_value(kPreferences, route.preference));
  }
  put_metrics(message, route.metrics);
  TRY(put_hops(message, route.family, route.hops, links));
  return message;
}

// Looks at the bytes that would be sent, not at the value they were made from: the last line of defence must not share
// the mistakes it is there to stop.
base::Status check_complete(const Message& message) {
  std::span<const std::byte> rest = message.bytes();
  rest = TRY(next_message(rest)).payload;
  const auto header = TRY(take_header<rtmsg>(rest));
  bool destination = header.rtm_dst_len == 0;
  bool table = false;
  bool metric = false;
  bool way = header.rtm_type == RTN_BLACKHOLE || header.rtm_type == RTN_UNREACHABLE ||
             header.rtm_type == RTN_PROHIBIT || header.rtm_type == RTN_THROW;
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (attribute.type == RTA_DST) destination = true;
    if (attribute.type == RTA_TABLE) table = TRY(attribute.u32()) != 0;
    if (attribute.type == RTA_PRIORITY) metric = true;
    if (attribute.type == RTA_OIF || attribute.type == RTA_MULTIPATH || attribute.type == RTA_NH_ID) way = true;
  }
  const bool family = header.rtm_family == AF_INET || header.rtm_family == AF_INET6;
  const bool known = header.rtm_protocol != RTPROT_UNSPEC && header.rtm_type != RTN_UNSPEC;
  if (family && destination && table && metric && way && known && message.fits()) return {};
  return base::fail(base::Fault::bug,
                    "refused to send a route message without family, destination, table, metric, way or protocol");
}

base::Result<Message> complete(base::Result<Message> message) {
  if (message) TRY(check_complete(*message));
  return message;
}

// Collects what is read, and the first thing that is not understood.
struct Reading {
  Route route{};
  HopReading hop{};
  std::optional<net::Address> destination{};
  std::optional<net::Address> source{};
  std::string unknown{};

  void strange(std::string what) {
    if (unknown.empty()) unknown = std::move(what);
  }
};

std::optional<net::Address> known_address(Reading& reading, const Attribute& attribute) {
  const auto address = attribute.address(reading.route.family);
  if (!address) reading.strange("address");
  return address ? std::optional(*address) : std::nullopt;
}

base::Status read_metrics(Reading& reading, std::span<const std::byte> rest) {
  std::uint32_t locked = 0;
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (attribute.type == RTAX_LOCK) {
      locked = TRY(attribute.u32());
    } else if (const auto kind = meaning(kMetrics, attribute.type)) {
      reading.route.metrics.push_back({.kind = *kind, .value = TRY(attribute.u32())});
    } else {
      reading.strange(fmt::format("metric {}", attribute.type));
    }
  }
  for (auto& metric : reading.route.metrics) {
    const std::uint32_t bit = 1U << wire_value(kMetrics, metric.kind);
    metric.locked = (locked & bit) != 0;
    locked &= ~bit;
  }
  if (locked != 0) reading.strange("lock of a metric that is not there");
  return {};
}

base::Status read_preference(Reading& reading, std::uint8_t wire) {
  const auto preference = meaning(kPreferences, wire);
  if (!preference) reading.strange("preference");
  reading.route.preference = preference.value_or(state::RoutePreference::medium);
  return {};
}

base::Status read_attribute(Reading& reading, const Attribute& attribute, const LinkTable& links) {
  Route& route = reading.route;
  switch (attribute.type) {
    case RTA_DST:
      reading.destination = known_address(reading, attribute);
      return {};
    case RTA_SRC:
      reading.source = known_address(reading, attribute);
      return {};
    case RTA_PREFSRC:
      route.source = known_address(reading, attribute);
      return {};
    case RTA_TABLE:
      route.table = TRY(attribute.u32());
      return {};
    case RTA_PRIORITY:
      route.metric = TRY(attribute.u32());
      return {};
    case RTA_NH_ID:
      route.nexthop = TRY(attribute.u32());
      return {};
    case RTA_METRICS:
      return read_metrics(reading, attribute.value);
    case RTA_MULTIPATH:
      route.hops = TRY(read_multipath(attribute.value, route.family, links, reading.unknown));
      return {};
    case RTA_PREF:
      return read_preference(reading, TRY(attribute.u8()));
    case RTA_CACHEINFO:  // Counters, and whether the route will go by itself: ours never do.
      if (TRY(attribute.read<rta_cacheinfo>()).rta_expires != 0) reading.strange("expires");
      return {};
    case RTA_PAD:
      return {};
    default:
      if (!TRY(read_hop_attribute(reading.hop, attribute, route.family, links))) {
        reading.strange(fmt::format("attribute {}", attribute.type));
      }
      return {};
  }
}

void read_header(Reading& reading, const rtmsg& header) {
  Route& route = reading.route;
  route.table = header.rtm_table;
  route.protocol = header.rtm_protocol;
  route.scope = header.rtm_scope;
  route.tos = header.rtm_tos;
  const auto type = meaning(kTypes, header.rtm_type);
  if (!type) reading.strange(fmt::format("type {}", header.rtm_type));
  route.type = type.value_or(RouteType::unicast);
  reading.hop.hop.onlink = (header.rtm_flags & RTNH_F_ONLINK) != 0;
  if ((header.rtm_flags & ~(kStatusFlags | RTNH_F_ONLINK)) != 0) {
    reading.strange(fmt::format("flags {:#x}", header.rtm_flags));
  }
}

// The exact prefix: host bits or an impossible length have no place in our type.
net::Prefix exact_prefix(Reading& reading, const std::optional<net::Address>& address, std::uint8_t length) {
  const net::Address any = reading.route.family == net::Family::v4 ? net::Address() : net::Address::parse("::").value();
  const net::Address start = address.value_or(any);
  if (length > start.bits() || start.masked(length) != start || (length != 0 && !address)) {
    reading.strange("prefix");
    return net::Prefix(any, 0);
  }
  return net::Prefix(start, length);
}

// What header and attributes together say.
void finish(Reading& reading, const rtmsg& header) {
  Route& route = reading.route;
  route.to = exact_prefix(reading, reading.destination, header.rtm_dst_len);
  if (header.rtm_src_len != 0) route.from = exact_prefix(reading, reading.source, header.rtm_src_len);
  if (route.nexthop != 0) {
    // The kernel spells the object out for programs that do not know it; a blackhole object shows as the type.
    route.hops.clear();
    if (route.type == RouteType::blackhole) route.type = RouteType::unicast;
  } else if (rejects(route.type)) {
    route.hops.clear();  // IPv6 shows these on lo.
  } else {
    if (!reading.hop.unknown.empty()) reading.strange(reading.hop.unknown);
    if (route.hops.empty()) route.hops.push_back(reading.hop.hop);
  }
}

bool matches(const RouteFilter& filter, const DecodedRoute& decoded) {
  const auto fits = [&](std::uint32_t table, std::uint8_t protocol) {
    return (!filter.table || *filter.table == table) && (!filter.protocol || *filter.protocol == protocol);
  };
  if (const auto* route = std::get_if<Route>(&decoded)) return fits(route->table, route->protocol);
  const auto& opaque = std::get<state::OpaqueRoute>(decoded);
  return fits(opaque.key.table, opaque.protocol);
}

}  // namespace

base::Result<Message> encode_add(const Route& route, const LinkTable& links) {
  return complete(encode(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, route, links));
}

base::Result<Message> encode_replace(const Route& route, const LinkTable& links) {
  return complete(encode(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, route, links));
}

base::Result<Message> encode_remove(const Route& route, const LinkTable& links) {
  return complete(encode(RTM_DELROUTE, 0, route, links));
}

base::Result<Message> encode_remove(const state::OpaqueRoute& route) {
  Message message(RTM_DELROUTE, 0);
  if (!route.wire.empty()) message.append_header(route.wire);
  if (route.key.metric == 0) message.put_u32(RTA_PRIORITY, 0);  // The kernel does not show this one.
  return complete(std::move(message));
}

Message encode_dump(const RouteFilter& filter) {
  rtmsg header{};
  header.rtm_family = wire_family(filter.family);
  header.rtm_protocol = filter.protocol.value_or(RTPROT_UNSPEC);
  Message message(RTM_GETROUTE, 0, header);
  if (filter.table) message.put_u32(RTA_TABLE, *filter.table);
  return message;
}

base::Result<DecodedRoute> decode_route(const Received& message, const LinkTable& links) {
  std::span<const std::byte> rest = message.payload;
  const auto header = TRY(take_header<rtmsg>(rest));
  Reading reading;
  reading.route.family = TRY(family_of(header.rtm_family));
  read_header(reading, header);
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    TRY(read_attribute(reading, attribute, links));
  }
  finish(reading, header);
  if (reading.unknown.empty()) return state::canonical(std::move(reading.route));
  return state::OpaqueRoute{.key = key(reading.route),
                            .protocol = reading.route.protocol,
                            .reason = std::move(reading.unknown),
                            .wire = {message.payload.begin(), message.payload.end()}};
}

base::Result<Socket::Dump> dump_routes(Socket& socket, const RouteFilter& filter, MissingTable missing,
                                       const LinkTable& links, const std::function<base::Status(DecodedRoute)>& visit) {
  const auto dump = socket.dump(encode_dump(filter), [&](const Received& message) -> base::Status {
    if (message.type != RTM_NEWROUTE) return {};
    DecodedRoute decoded = TRY(decode_route(message, links));
    return matches(filter, decoded) ? visit(std::move(decoded)) : base::Status{};
  });
  const bool no_table = !dump && dump.error().errno_value() == ENOENT && filter.table;
  if (no_table && missing == MissingTable::is_empty) return Socket::Dump{.interrupted = false, .filtered = true};
  return dump;
}

}  // namespace kernel::rtnl
