#include "kernel/rtnl/rule.h"

#include <algorithm>
#include <array>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <optional>
#include <sys/socket.h>

#include <fmt/format.h>

#include "kernel/netlink/family.h"

namespace kernel::rtnl {
namespace {

using state::Rule;
using state::RuleAction;

// Newer than the headers we build with; dumped by kernels from 6.15 on.
constexpr std::uint16_t kSportMask = 28;
constexpr std::uint16_t kDportMask = 29;

constexpr std::array<std::pair<RuleAction, std::uint8_t>, 6> kActions = {{
    {RuleAction::lookup, FR_ACT_TO_TBL},
    {RuleAction::go_to, FR_ACT_GOTO},
    {RuleAction::nop, FR_ACT_NOP},
    {RuleAction::blackhole, FR_ACT_BLACKHOLE},
    {RuleAction::unreachable, FR_ACT_UNREACHABLE},
    {RuleAction::prohibit, FR_ACT_PROHIBIT},
}};

std::uint8_t wire_action(RuleAction action) {
  return std::ranges::find(kActions, action, &decltype(kActions)::value_type::first)->second;
}

// Flags that report something about the rule and are no part of it: a missing interface, a jump to nowhere yet.
constexpr std::uint32_t kStatusFlags =
    FIB_RULE_PERMANENT | FIB_RULE_UNRESOLVED | FIB_RULE_IIF_DETACHED | FIB_RULE_OIF_DETACHED;

fib_rule_hdr wire_header(const Rule& rule) {
  const auto length = [](const std::optional<net::Prefix>& prefix) {
    return static_cast<std::uint8_t>(prefix ? prefix->length() : 0);
  };
  fib_rule_hdr header{};
  header.family = wire_family(rule.family);
  header.src_len = length(rule.selector.from);
  header.dst_len = length(rule.selector.to);
  header.tos = rule.selector.tos;
  header.table = RT_TABLE_UNSPEC;  // FRA_TABLE carries all 32 bits.
  header.action = wire_action(rule.action);
  header.flags = rule.selector.invert ? FIB_RULE_INVERT : 0;
  return header;
}

void put_selector(Message& message, const state::Selector& selector) {
  if (selector.from) message.put_address(FRA_SRC, selector.from->address());
  if (selector.to) message.put_address(FRA_DST, selector.to->address());
  if (!selector.iif.empty()) message.put_text(FRA_IIFNAME, selector.iif.text());
  if (!selector.oif.empty()) message.put_text(FRA_OIFNAME, selector.oif.text());
  if (selector.mark) {
    message.put_u32(FRA_FWMARK, selector.mark->value);
    message.put_u32(FRA_FWMASK, selector.mark->mask);
  }
  if (selector.ip_protocol != 0) message.put_u8(FRA_IP_PROTO, selector.ip_protocol);
  if (selector.sport)
    message.put_struct(FRA_SPORT_RANGE, fib_rule_port_range{selector.sport->first, selector.sport->last});
  if (selector.dport)
    message.put_struct(FRA_DPORT_RANGE, fib_rule_port_range{selector.dport->first, selector.dport->last});
  if (selector.uids) message.put_struct(FRA_UID_RANGE, fib_rule_uid_range{selector.uids->first, selector.uids->last});
}

Message encode(std::uint16_t type, std::uint16_t flags, const Rule& rule) {
  Message message(type, flags, wire_header(rule));
  put_selector(message, rule.selector);
  message.put_u32(FRA_PRIORITY, rule.priority);
  if (rule.table != 0) message.put_u32(FRA_TABLE, rule.table);
  if (rule.action == RuleAction::go_to) message.put_u32(FRA_GOTO, rule.target);
  if (rule.l3mdev) message.put_u8(FRA_L3MDEV, 1);
  if (rule.suppress_prefixlength) message.put_u32(FRA_SUPPRESS_PREFIXLEN, *rule.suppress_prefixlength);
  if (rule.suppress_ifgroup) message.put_u32(FRA_SUPPRESS_IFGROUP, *rule.suppress_ifgroup);
  message.put_u8(FRA_PROTOCOL, rule.protocol);
  return message;
}

// Looks at the bytes that would be sent, not at the value they were made from: the last line of defence must not share
// the mistakes it is there to stop.
base::Status check_complete(const Message& message, bool is_signed = true) {
  std::span<const std::byte> rest = message.bytes();
  rest = TRY(next_message(rest)).payload;
  const auto header = TRY(take_header<fib_rule_hdr>(rest));
  bool priority = false;
  bool target = header.action != FR_ACT_TO_TBL && header.action != FR_ACT_UNSPEC;
  bool protocol = false;
  int addresses = 0;
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    if (attribute.type == FRA_PRIORITY) priority = true;
    if (attribute.type == FRA_TABLE) target = target || TRY(attribute.u32()) != 0;
    if (attribute.type == FRA_L3MDEV) target = true;
    if (attribute.type == FRA_PROTOCOL) protocol = TRY(attribute.u8()) != 0;
    if (attribute.type == FRA_SRC || attribute.type == FRA_DST) ++addresses;
  }
  const bool family = header.family == AF_INET || header.family == AF_INET6;
  const bool selector = addresses == (header.src_len != 0 ? 1 : 0) + (header.dst_len != 0 ? 1 : 0);
  if (family && priority && target && protocol == is_signed && selector && message.fits()) return {};
  return base::fail(base::Fault::bug,
                    "refused to send a rule message without family, selector, table, priority or protocol");
}

// Collects what is read, and the first thing that is not understood.
struct Reading {
  Rule rule{};
  std::uint8_t source_length = 0;
  std::uint8_t destination_length = 0;
  std::uint32_t mark = 0;
  std::uint32_t mask = 0;
  std::string unknown{};

  void strange(std::string what) {
    if (unknown.empty()) unknown = std::move(what);
  }
};

// The exact prefix or none: host bits, a mapped address or an impossible length have no place in our type.
std::optional<net::Prefix> exact_prefix(Reading& reading, const Attribute& attribute, std::uint8_t length) {
  const auto address = attribute.address(reading.rule.family);
  if (!address || length > address->bits() || address->masked(length) != *address) {
    reading.strange("host bits or mapped address");
    return std::nullopt;
  }
  return net::Prefix(*address, length);
}

net::InterfaceName interface_name(Reading& reading, std::string_view name) {
  const auto parsed = net::InterfaceName::parse(name);
  if (!parsed) reading.strange("interface name");
  return parsed.value_or(net::InterfaceName());
}

// The kernel writes -1 for "none".
std::optional<std::uint32_t> unless_all_ones(std::uint32_t value) {
  return value == 0xffffffff ? std::nullopt : std::optional(value);
}

base::Status read_attribute(Reading& reading, const Attribute& attribute) {
  Rule& rule = reading.rule;
  state::Selector& selector = rule.selector;
  switch (attribute.type) {
    case FRA_SRC:
      selector.from = exact_prefix(reading, attribute, reading.source_length);
      return {};
    case FRA_DST:
      selector.to = exact_prefix(reading, attribute, reading.destination_length);
      return {};
    case FRA_IIFNAME:
      selector.iif = interface_name(reading, TRY(attribute.text()));
      return {};
    case FRA_OIFNAME:
      selector.oif = interface_name(reading, TRY(attribute.text()));
      return {};
    case FRA_PRIORITY:
      rule.priority = TRY(attribute.u32());
      return {};
    case FRA_FWMARK:
      reading.mark = TRY(attribute.u32());
      return {};
    case FRA_FWMASK:
      reading.mask = TRY(attribute.u32());
      return {};
    case FRA_TABLE:
      rule.table = TRY(attribute.u32());
      return {};
    case FRA_GOTO:
      rule.target = TRY(attribute.u32());
      return {};
    case FRA_L3MDEV:
      rule.l3mdev = TRY(attribute.u8()) != 0;
      return {};
    case FRA_PROTOCOL:
      rule.protocol = TRY(attribute.u8());
      return {};
    case FRA_IP_PROTO:
      selector.ip_protocol = TRY(attribute.u8());
      return {};
    case FRA_SUPPRESS_IFGROUP:
      rule.suppress_ifgroup = unless_all_ones(TRY(attribute.u32()));
      return {};
    case FRA_SUPPRESS_PREFIXLEN: {
      const auto length = unless_all_ones(TRY(attribute.u32()));
      if (length && *length > 128) reading.strange("suppress_prefixlength");
      if (length) rule.suppress_prefixlength = static_cast<std::uint8_t>(*length);
      return {};
    }
    case FRA_SPORT_RANGE: {
      const auto range = TRY(attribute.read<fib_rule_port_range>());
      selector.sport = state::PortRange{.first = range.start, .last = range.end};
      return {};
    }
    case FRA_DPORT_RANGE: {
      const auto range = TRY(attribute.read<fib_rule_port_range>());
      selector.dport = state::PortRange{.first = range.start, .last = range.end};
      return {};
    }
    case FRA_UID_RANGE: {
      const auto range = TRY(attribute.read<fib_rule_uid_range>());
      selector.uids = state::UidRange{.first = range.start, .last = range.end};
      return {};
    }
    case kSportMask:
    case kDportMask:  // All bits: what a single port without a mask means.
      if (TRY(attribute.u16()) != 0xffff) reading.strange("port mask");
      return {};
    case FRA_PAD:
      return {};
    default:
      reading.strange(fmt::format("attribute {}", attribute.type));
      return {};
  }
}

void read_header(Reading& reading, const fib_rule_hdr& header) {
  reading.source_length = header.src_len;
  reading.destination_length = header.dst_len;
  reading.rule.selector.tos = header.tos;
  reading.rule.selector.invert = (header.flags & FIB_RULE_INVERT) != 0;
  reading.rule.table = header.table;
  const auto action = std::ranges::find(kActions, header.action, &decltype(kActions)::value_type::second);
  if (action == kActions.end()) reading.strange(fmt::format("action {}", header.action));
  if (action != kActions.end()) reading.rule.action = action->first;
  if ((header.flags & ~(kStatusFlags | FIB_RULE_INVERT)) != 0)
    reading.strange(fmt::format("flags {:#x}", header.flags));
}

// What the attributes together say; a value our type would hold in another form than the kernel makes it strange.
void finish(Reading& reading) {
  Rule& rule = reading.rule;
  if (reading.mask != 0 || reading.mark != 0) {
    rule.selector.mark = state::Mark{.value = reading.mark, .mask = reading.mask};
    if ((reading.mark & ~reading.mask) != 0) reading.strange("mark outside its mask");
  }
  if ((reading.source_length != 0) != rule.selector.from.has_value()) reading.strange("source");
  if ((reading.destination_length != 0) != rule.selector.to.has_value()) reading.strange("destination");
  if (rule.action != RuleAction::go_to && rule.target != 0) reading.strange("goto");
}

}  // namespace

base::Result<Message> encode_add(const Rule& rule, bool exclusive) {
  const auto flags = static_cast<std::uint16_t>(exclusive ? NLM_F_CREATE | NLM_F_EXCL : NLM_F_CREATE);
  Message message = encode(RTM_NEWRULE, flags, rule);
  TRY(check_complete(message));
  return message;
}

base::Result<Message> encode_remove(const Rule& rule) {
  Message message = encode(RTM_DELRULE, 0, rule);
  TRY(check_complete(message));
  return message;
}

base::Result<Message> encode_remove_unsigned(const Rule& rule) {
  Message message = encode(RTM_DELRULE, 0, rule);
  TRY(check_complete(message, false));
  return message;
}

base::Result<Message> encode_remove(const state::OpaqueRule& rule) {
  Message message(RTM_DELRULE, 0);
  message.append_header(rule.wire);
  TRY(check_complete(message));
  return message;
}

Message encode_dump(net::Family family) {
  fib_rule_hdr header{};  // Strict checking: nothing but the family may be set.
  header.family = wire_family(family);
  return Message(RTM_GETRULE, 0, header);
}

base::Result<std::variant<Rule, state::OpaqueRule>> decode_rule(const Received& message) {
  std::span<const std::byte> rest = message.payload;
  const auto header = TRY(take_header<fib_rule_hdr>(rest));
  Reading reading;
  reading.rule.family = TRY(family_of(header.family));
  read_header(reading, header);
  while (!rest.empty()) {
    const Attribute attribute = TRY(next_attribute(rest));
    TRY(read_attribute(reading, attribute));
  }
  finish(reading);
  if (reading.unknown.empty()) return reading.rule;
  return state::OpaqueRule{.family = reading.rule.family,
                           .priority = reading.rule.priority,
                           .table = reading.rule.table,
                           .protocol = reading.rule.protocol,
                           .reason = std::move(reading.unknown),
                           .wire = {message.payload.begin(), message.payload.end()}};
}

}  // namespace kernel::rtnl
