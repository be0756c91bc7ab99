#include "kernel/rtnl/address.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <optional>
#include <string>
#include <sys/socket.h>

#include <fmt/format.h>

#include "kernel/netlink/family.h"

namespace kernel::rtnl {
namespace {

using state::InterfaceAddress;

constexpr std::uint32_t kForever = 0xffffffff;
constexpr std::uint32_t kStatusFlags =
    IFA_F_PERMANENT | IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_OPTIMISTIC | IFA_F_STABLE_PRIVACY;
constexpr std::uint32_t kKnownFlags = IFA_F_NODAD | IFA_F_NOPREFIXROUTE | IFA_F_DEPRECATED;

std::uint32_t wire_flags(const InterfaceAddress& address) {
  return (address.nodad ? IFA_F_NODAD : 0U) | (address.noprefixroute ? IFA_F_NOPREFIXROUTE : 0U);
}

base::Result<Message> encode(std::uint16_t type, std::uint16_t flags, const InterfaceAddress& address,
                             const LinkTable& links) {
  ifaddrmsg header{};
  header.ifa_family = wire_family(address.local.family());
  header.ifa_prefixlen = address.length;
  header.ifa_scope = address.scope;
  header.ifa_index = TRY(require_link(links, address.dev));
  Message message(type, flags, header);
  message.put_address(IFA_LOCAL, address.local);
  message.put_address(IFA_ADDRESS, address.peer.value_or(address.local));
  if (address.broadcast) message.put_address(IFA_BROADCAST, *address.broadcast);
  if (address.local.family() == net::Family::v4) {
    message.put_text(IFA_LABEL, address.label.empty() ? address.dev.text() : address.label);
  }
  message.put_u32(IFA_FLAGS, wire_flags(address));
  if (address.metric != 0) message.put_u32(IFA_RT_PRIORITY, address.metric);
  if (address.deprecated) message.put_struct(IFA_CACHEINFO, ifa_cacheinfo{0, kForever, 0, 0});
  message.put_u8(IFA_PROTO, address.protocol);
  return message;
}

// Looks at the bytes that would be sent, not at the value they were made from.
base::Status check_complete(const Message& message) {
  std::span<const std::byte> rest = message.bytes();
  rest = TRY(next_message(rest)).payload;
  const auto header = TRY(take_header<ifaddrmsg>(rest));
  bool local = false;
  bool protocol = false;
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (attribute.type == IFA_LOCAL) local = true;
    if (attribute.type == IFA_PROTO) protocol = TRY(attribute.u8()) != 0;
  }
  if (header.ifa_index != 0 && header.ifa_prefixlen != 0 && local && protocol && message.fits()) return {};
  return base::fail(base::Fault::bug, "refused to send an address message without link, address, length or protocol");
}

base::Result<Message> complete(base::Result<Message> message) {
  if (message) TRY(check_complete(*message));
  return message;
}

// Collects what is read, and the first thing that is not understood.
struct Reading {
  InterfaceAddress address{};
  net::Family family = net::Family::v4;
  std::optional<net::Address> local{};
  std::optional<net::Address> prefix{};  // IFA_ADDRESS: the peer where it differs.
  std::uint32_t flags = 0;
  std::string unknown{};

  void strange(std::string what) {
    if (unknown.empty()) unknown = std::move(what);
  }
};

std::optional<net::Address> known_address(Reading& reading, const Attribute& attribute) {
  const auto address = attribute.address(reading.family);
  if (!address) reading.strange("address");
  return address ? std::optional(*address) : std::nullopt;
}

base::Status read_lifetime(Reading& reading, const Attribute& attribute) {
  const auto lifetime = TRY(attribute.read<ifa_cacheinfo>());
  const bool ends = lifetime.ifa_valid != kForever || (lifetime.ifa_prefered != kForever && lifetime.ifa_prefered != 0);
  if (ends) reading.strange("lifetime");
  // The kernel says so by a flag; we can only ask for it by the time.
  reading.address.deprecated = lifetime.ifa_prefered == 0;
  return {};
}

base::Status read_attribute(Reading& reading, const Attribute& attribute) {
  switch (attribute.type) {
    case IFA_LOCAL:
      reading.local = known_address(reading, attribute);
      return {};
    case IFA_ADDRESS:
      reading.prefix = known_address(reading, attribute);
      return {};
    case IFA_BROADCAST:
      reading.address.broadcast = known_address(reading, attribute);
      return {};
    case IFA_LABEL:
      reading.address.label = std::string(TRY(attribute.text()));
      return {};
    case IFA_FLAGS:
      reading.flags = TRY(attribute.u32());
      return {};
    case IFA_RT_PRIORITY:
      reading.address.metric = TRY(attribute.u32());
      return {};
    case IFA_PROTO:
      reading.address.protocol = TRY(attribute.u8());
      return {};
    case IFA_CACHEINFO:
      return read_lifetime(reading, attribute);
    default:
      reading.strange(fmt::format("attribute {}", attribute.type));
      return {};
  }
}

void read_link(Reading& reading, std::uint32_t index, const LinkTable& links) {
  const auto name = links.name_of(index);
  if (!name) reading.strange(fmt::format("device {}", index));
  reading.address.dev = name.value_or(net::InterfaceName());
}

// What the attributes together say.
void finish(Reading& reading) {
  InterfaceAddress& address = reading.address;
  if (!reading.local) reading.local = reading.prefix;  // IPv6 without a peer has only IFA_ADDRESS.
  if (!reading.local) reading.strange("no address");
  address.local = reading.local.value_or(net::Address());
  if (reading.prefix != reading.local) address.peer = reading.prefix;
  address.nodad = (reading.flags & IFA_F_NODAD) != 0;
  address.deprecated |= (reading.flags & IFA_F_DEPRECATED) != 0;
  address.noprefixroute = (reading.flags & IFA_F_NOPREFIXROUTE) != 0;
  // For IPv4 the kernel tells first from further ones by it; for IPv6 it is a temporary address.
  const std::uint32_t secondary = reading.family == net::Family::v4 ? IFA_F_SECONDARY : 0U;
  if ((reading.flags & ~(kStatusFlags | kKnownFlags | secondary)) != 0) {
    reading.strange(fmt::format("flags {:#x}", reading.flags));
  }
}

}  // namespace

base::Result<Message> encode_add(const InterfaceAddress& address, const LinkTable& links) {
  return complete(encode(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, address, links));
}

base::Result<Message> encode_remove(const InterfaceAddress& address, const LinkTable& links) {
  return complete(encode(RTM_DELADDR, 0, address, links));
}

Message encode_address_dump(net::Family family) {
  ifaddrmsg header{};
  header.ifa_family = wire_family(family);
  return Message(RTM_GETADDR, 0, header);
}

base::Result<DecodedAddress> decode_address(const Received& message, const LinkTable& links) {
  std::span<const std::byte> rest = message.payload;
  const auto header = TRY(take_header<ifaddrmsg>(rest));
  Reading reading;
  reading.family = TRY(family_of(header.ifa_family));
  reading.flags = header.ifa_flags;
  reading.address.length = header.ifa_prefixlen;
  reading.address.scope = header.ifa_scope;
  read_link(reading, header.ifa_index, links);
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    TRY(read_attribute(reading, attribute));
  }
  finish(reading);
  if (reading.unknown.empty()) return state::canonical(std::move(reading.address));
  return state::OpaqueAddress{
      .key = key(reading.address), .protocol = reading.address.protocol, .reason = std::move(reading.unknown)};
}

}  // namespace kernel::rtnl
