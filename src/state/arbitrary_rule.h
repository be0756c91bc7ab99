#pragma once

#include <cstdint>
#include <optional>

#include <rapidcheck.h>

#include "state/rule.h"

// For property tests, here and in the folders above.
namespace state {

// Any rule in canonical form, valid or not; few values per field, so that two of them are often close.
inline Rule arbitrary_rule() {
  using rc::gen::element;
  const auto optional_prefix = [](net::Family family) -> std::optional<net::Prefix> {
    if (*rc::gen::arbitrary<bool>()) return std::nullopt;
    const auto address =
        net::Address::parse(family == net::Family::v4 ? "203.0.113.99" : "2001:db8:1:2:3:4:5:6").value();
    return net::Prefix(address, *rc::gen::inRange(1, address.bits() + 1));
  };
  Rule rule{.family = *element(net::Family::v4, net::Family::v6), .priority = *rc::gen::arbitrary<std::uint32_t>()};
  Selector& selector = rule.selector;
  selector.from = optional_prefix(rule.family);
  selector.to = optional_prefix(rule.family);
  if (*rc::gen::arbitrary<bool>()) selector.iif = net::InterfaceName::parse("eth0").value();
  if (*rc::gen::arbitrary<bool>()) selector.oif = net::InterfaceName::parse("br-0").value();
  if (*rc::gen::arbitrary<bool>()) selector.mark = Mark{.value = 0x100, .mask = *element(0x3f00U, 0xffffffffU)};
  selector.tos = *element<std::uint8_t>(0, 0x10);
  selector.ip_protocol = *rc::gen::arbitrary<std::uint8_t>();
  selector.invert = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) selector.sport = PortRange{.first = 1, .last = *element<std::uint16_t>(1, 65535)};
  if (*rc::gen::arbitrary<bool>()) selector.uids = UidRange{.first = 0, .last = *rc::gen::arbitrary<std::uint32_t>()};
  rule.protocol = *rc::gen::arbitrary<std::uint8_t>();
  rule.action = *element(RuleAction::lookup, RuleAction::go_to, RuleAction::nop, RuleAction::prohibit);
  if (rule.action == RuleAction::lookup) {
    rule.table = *element(1U, 254U, 255U, 4294967295U);
    rule.suppress_prefixlength = *element<std::optional<std::uint8_t>>(std::nullopt, 0, 32);
  }
  if (rule.action == RuleAction::go_to) rule.target = *rc::gen::arbitrary<std::uint32_t>();
  return rule;
}

}  // namespace state
