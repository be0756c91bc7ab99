#include "state/rule.h"

#include <limits>

#include <fmt/format.h>

#include "state/mix.h"
#include "state/words.h"

namespace state {
namespace {

using words::refuse;

base::Status check_prefix(std::string_view field, net::Family family, const std::optional<net::Prefix>& prefix) {
  if (prefix && prefix->family() != family) {
    return refuse(field, fmt::format("{} is not {}", prefix->text(), net::text(family)));
  }
  return {};
}

base::Status check_ports(std::string_view field, const std::optional<PortRange>& range) {
  if (!range) return {};
  if (range->first == 0) return refuse(field, "port 0 matches nothing");
  if (range->first > range->last) return refuse(field, fmt::format("{} is above {}", range->first, range->last));
  return {};
}

base::Status check_uids(const std::optional<UidRange>& range) {
  if (!range) return {};
  if (range->first > range->last) return refuse("uidrange", fmt::format("{} is above {}", range->first, range->last));
  if (range->last == std::numeric_limits<std::uint32_t>::max()) return refuse("uidrange", "4294967295 is nobody's id");
  return {};
}

// As fib4_rule_configure() and fib6_rule_configure(): no ECN bits, and IPv4 knows only the old TOS bits.
base::Status check_tos(net::Family family, std::uint8_t tos) {
  const unsigned allowed = family == net::Family::v4 ? 0x1cU : 0xfcU;
  if ((tos & ~allowed) != 0) return refuse("tos", fmt::format("{:#04x} has bits outside {:#04x}", tos, allowed));
  return {};
}

base::Status check_selector(net::Family family, const Selector& selector) {
  TRY(check_prefix("from", family, selector.from));
  TRY(check_prefix("to", family, selector.to));
  if (selector.mark && selector.mark->mask == 0) return refuse("fwmark", "mask 0 matches every mark");
  if (selector.mark && (selector.mark->value & ~selector.mark->mask) != 0) {
    return refuse("fwmark",
                  fmt::format("{:#x} has bits outside its mask {:#x}", selector.mark->value, selector.mark->mask));
  }
  TRY(check_tos(family, selector.tos));
  TRY(check_ports("sport", selector.sport));
  TRY(check_ports("dport", selector.dport));
  return check_uids(selector.uids);
}

base::Status check_lookup(const Rule& rule) {
  if (rule.l3mdev && rule.table != 0) return refuse("table", "l3mdev looks up the table of the packet's VRF");
  if (!rule.l3mdev && rule.table == 0) return refuse("table", "0 lets the kernel choose one");
  if (rule.suppress_prefixlength && *rule.suppress_prefixlength > net::address_bits(rule.family)) {
    return refuse("suppress_prefixlength",
                  fmt::format("{} is more than {} has", *rule.suppress_prefixlength, net::text(rule.family)));
  }
  if (rule.suppress_ifgroup && *rule.suppress_ifgroup > std::numeric_limits<std::int32_t>::max()) {
    return refuse("suppress_ifgroup", "larger than an interface group can be");
  }
  return {};
}

}  // namespace

bool is_canonical(const Rule& rule) {
  const Selector& selector = rule.selector;
  return (!selector.from || selector.from->length() != 0) && (!selector.to || selector.to->length() != 0) &&
         (!selector.mark || (selector.mark->mask != 0 && (selector.mark->value & ~selector.mark->mask) == 0));
}

Rule canonical(Rule rule) {
  Selector& selector = rule.selector;
  if (selector.from && selector.from->length() == 0) selector.from.reset();
  if (selector.to && selector.to->length() == 0) selector.to.reset();
  if (selector.mark) selector.mark->value &= selector.mark->mask;
  if (selector.mark && selector.mark->mask == 0) selector.mark.reset();
  return rule;
}

base::Status validate(const Rule& rule) {
  TRY(check_selector(rule.family, rule.selector));
  if (rule.protocol == 0) return refuse("protocol", "0 says nobody made the rule");
  if (rule.action == RuleAction::go_to && rule.target <= rule.priority) {
    return refuse("goto", fmt::format("{} is not after priority {}", rule.target, rule.priority));
  }
  if (rule.action != RuleAction::go_to && rule.target != 0) return refuse("goto", "only for a rule that jumps");
  if (rule.action == RuleAction::lookup) return check_lookup(rule);
  if (rule.table != 0 || rule.l3mdev) return refuse("table", "only for a rule that looks up");
  if (rule.suppress_prefixlength) return refuse("suppress_prefixlength", "only for a rule that looks up");
  if (rule.suppress_ifgroup) return refuse("suppress_ifgroup", "only for a rule that looks up");
  return {};
}

base::Status validate_table(std::uint32_t table) {
  if (table == 0) return refuse("table", "0 lets the kernel choose one");
  if (table >= kTableDefault && table <= kTableLocal) {
    return refuse("table", fmt::format("{} is the kernel's own", table));
  }
  return {};
}

}  // namespace state

std::size_t std::hash<state::Rule>::operator()(const state::Rule& rule) const noexcept {
  // The fields in which rules of one node differ; equal hashes of others are only slower.
  std::size_t seed = rule.priority;
  state::mix(seed, rule.table);
  if (rule.selector.from) state::mix(seed, std::hash<net::Prefix>()(*rule.selector.from));
  if (rule.selector.to) state::mix(seed, std::hash<net::Prefix>()(*rule.selector.to));
  if (rule.selector.mark) state::mix(seed, rule.selector.mark->value);
  state::mix(seed, rule.protocol);
  return seed;
}
