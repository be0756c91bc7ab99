#include "kernel/rtnl/nexthop.h"

#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <span>
#include <string>
#include <sys/socket.h>
#include <vector>

#include <fmt/format.h>

#include "kernel/netlink/family.h"

namespace kernel::rtnl {
namespace {

using state::Nexthop;

constexpr std::uint32_t kStatusFlags = RTNH_F_DEAD | RTNH_F_OFFLOAD | RTNH_F_LINKDOWN | RTNH_F_TRAP;
// Newer than the headers we build with; says only which fields of the answer to believe.
constexpr std::uint16_t kOpFlags = 14;

// The kernel's nexthop_grp. From Linux 6.12 on weights are 16 bits wide, the upper half in what was reserved: headers
// differ in what they call that byte.
struct GroupMember {
  std::uint32_t id = 0;
  std::uint8_t weight = 0;
  std::uint8_t weight_high = 0;
  std::uint16_t reserved = 0;
};
static_assert(sizeof(GroupMember) == sizeof(nexthop_grp));

void put_group(Message& message, const Nexthop& nexthop) {
  std::vector<GroupMember> members;
  for (const auto& member : nexthop.group) {
    members.push_back({.id = member.id, .weight = static_cast<std::uint8_t>(member.weight - 1)});
  }
  message.put_bytes(NHA_GROUP, std::as_bytes(std::span(members)));
  if (!nexthop.resilience) return;
  message.put_u16(NHA_GROUP_TYPE, NEXTHOP_GRP_TYPE_RES);
  message.put_nested(NHA_RES_GROUP, [&] {
    message.put_u16(NHA_RES_GROUP_BUCKETS, nexthop.resilience->buckets);
    message.put_u32(NHA_RES_GROUP_IDLE_TIMER, nexthop.resilience->idle_timer);
    message.put_u32(NHA_RES_GROUP_UNBALANCED_TIMER, nexthop.resilience->unbalanced_timer);
  });
}

base::Result<Message> encode(std::uint16_t flags, const Nexthop& nexthop, const LinkTable& links) {
  nhmsg header{};
  header.nh_family = nexthop.group.empty() ? wire_family(nexthop.family) : std::uint8_t{AF_UNSPEC};
  header.nh_protocol = nexthop.protocol;
  header.nh_flags = nexthop.onlink ? RTNH_F_ONLINK : 0;
  Message message(RTM_NEWNEXTHOP, flags, header);
  message.put_u32(NHA_ID, nexthop.id);
  if (!nexthop.group.empty()) put_group(message, nexthop);
  if (nexthop.blackhole) message.put_flag(NHA_BLACKHOLE);
  if (!nexthop.dev.empty()) message.put_u32(NHA_OIF, TRY(require_link(links, nexthop.dev)));
  if (nexthop.via) message.put_address(NHA_GATEWAY, *nexthop.via);
  return message;
}

base::Status check_complete(const Nexthop& nexthop) {
  if (nexthop.id != 0 && nexthop.protocol != 0) return {};
  return base::fail(base::Fault::bug, "refused to send a nexthop message without id or protocol");
}

// Collects what is read, and the first thing that is not understood.
struct Reading {
  Nexthop nexthop{};
  std::string unknown{};

  void strange(std::string what) {
    if (unknown.empty()) unknown = std::move(what);
  }
};

base::Status read_group(Reading& reading, std::span<const std::byte> rest) {
  if (rest.size() % sizeof(GroupMember) != 0) return base::fail(base::Fault::kernel, "cut group of nexthops");
  while (!rest.empty()) {
    const auto member = TRY(take_header<GroupMember>(rest));
    const unsigned weight = (unsigned{member.weight_high} << 8U | member.weight) + 1U;
    if (weight > 256) reading.strange("weight");
    reading.nexthop.group.push_back({.id = member.id, .weight = static_cast<std::uint16_t>(weight)});
  }
  return {};
}

base::Status read_resilience(Reading& reading, std::span<const std::byte> rest) {
  auto& resilience = reading.nexthop.resilience.emplace();
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    switch (attribute.type) {
      case NHA_RES_GROUP_BUCKETS:
        resilience.buckets = TRY(attribute.u16());
        break;
      case NHA_RES_GROUP_IDLE_TIMER:
        resilience.idle_timer = TRY(attribute.u32());
        break;
      case NHA_RES_GROUP_UNBALANCED_TIMER:
        resilience.unbalanced_timer = TRY(attribute.u32());
        break;
      case NHA_RES_GROUP_UNBALANCED_TIME:  // For how long it has been: a report, no setting.
      case NHA_RES_GROUP_PAD:
        break;
      default:
        reading.strange(fmt::format("resilience {}", attribute.type));
    }
  }
  return {};
}

void read_gateway(Reading& reading, const Attribute& attribute) {
  const auto address = attribute.address(reading.nexthop.family);
  if (!address) reading.strange("gateway");
  if (address) reading.nexthop.via = *address;
}

void read_device(Reading& reading, std::uint32_t index, const LinkTable& links) {
  const auto name = links.name_of(index);
  if (!name) reading.strange(fmt::format("device {}", index));
  reading.nexthop.dev = name.value_or(net::InterfaceName());
}

base::Status read_attribute(Reading& reading, const Attribute& attribute, const LinkTable& links) {
  switch (attribute.type) {
    case NHA_ID:
      reading.nexthop.id = TRY(attribute.u32());
      return {};
    case NHA_GROUP:
      return read_group(reading, attribute.value);
    case NHA_GROUP_TYPE: {
      const auto type = TRY(attribute.u16());
      if (type > NEXTHOP_GRP_TYPE_RES) reading.strange(fmt::format("group type {}", type));
      return {};
    }
    case NHA_RES_GROUP:
      return read_resilience(reading, attribute.value);
    case NHA_BLACKHOLE:
      reading.nexthop.blackhole = true;
      return {};
    case NHA_OIF:
      read_device(reading, TRY(attribute.u32()), links);
      return {};
    case NHA_GATEWAY:
      read_gateway(reading, attribute);
      return {};
    case kOpFlags:
      return {};
    default:
      reading.strange(fmt::format("attribute {}", attribute.type));
      return {};
  }
}

base::Status read_header(Reading& reading, const nhmsg& header) {
  if (header.nh_family != AF_UNSPEC) reading.nexthop.family = TRY(family_of(header.nh_family));
  reading.nexthop.protocol = header.nh_protocol;
  reading.nexthop.onlink = (header.nh_flags & RTNH_F_ONLINK) != 0;
  if ((header.nh_flags & ~(kStatusFlags | RTNH_F_ONLINK)) != 0) {
    reading.strange(fmt::format("flags {:#x}", header.nh_flags));
  }
  return {};
}

}  // namespace

base::Result<Message> encode_add(const Nexthop& nexthop, const LinkTable& links) {
  TRY(check_complete(nexthop));
  return encode(NLM_F_CREATE | NLM_F_EXCL, nexthop, links);
}

base::Result<Message> encode_replace(const Nexthop& nexthop, const LinkTable& links) {
  TRY(check_complete(nexthop));
  return encode(NLM_F_CREATE | NLM_F_REPLACE, nexthop, links);
}

base::Result<Message> encode_remove(const Nexthop& nexthop) {
  TRY(check_complete(nexthop));
  Message message(RTM_DELNEXTHOP, 0, nhmsg{});
  message.put_u32(NHA_ID, nexthop.id);
  return message;
}

Message encode_nexthop_dump() {
  return Message(RTM_GETNEXTHOP, 0, nhmsg{});
}

base::Result<DecodedNexthop> decode_nexthop(const Received& message, const LinkTable& links) {
  std::span<const std::byte> rest = message.payload;
  const auto header = TRY(take_header<nhmsg>(rest));
  Reading reading;
  TRY(read_header(reading, header));
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    TRY(read_attribute(reading, attribute, links));
  }
  if (reading.unknown.empty()) return state::canonical(std::move(reading.nexthop));
  return state::OpaqueNexthop{
      .id = reading.nexthop.id, .protocol = reading.nexthop.protocol, .reason = std::move(reading.unknown)};
}

}  // namespace kernel::rtnl
