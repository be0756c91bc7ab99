#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/address.h"
#include "net/interface_name.h"
#include "net/prefix.h"

namespace state {

// The kernel's own tables. A rule of ours may point at `main` by intent; at the others it may too, and is warned about.
inline constexpr std::uint32_t kTableDefault = 253;
inline constexpr std::uint32_t kTableMain = 254;
inline constexpr std::uint32_t kTableLocal = 255;

// Where it keeps its own rules: the one for VRF devices, once there is one, and the one that looks up `main`.
inline constexpr std::uint32_t kPriorityVrf = 1000;
inline constexpr std::uint32_t kPriorityMain = 32766;

// Matches packets whose mark, under the mask, is the value.
struct Mark {
  std::uint32_t value = 0;
  std::uint32_t mask = 0xffffffff;
  auto operator<=>(const Mark&) const = default;
};

struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  auto operator<=>(const PortRange&) const = default;
};

struct UidRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  auto operator<=>(const UidRange&) const = default;
};

// Which packets a rule is about. What is not set matches everything.
struct Selector {
  std::optional<net::Prefix> from{};
  std::optional<net::Prefix> to{};
  net::InterfaceName iif{};
  net::InterfaceName oif{};
  std::optional<Mark> mark{};
  std::uint8_t tos = 0;
  std::uint8_t ip_protocol = 0;
  bool invert = false;  // `not`: the packets that do not match.
  std::optional<PortRange> sport{};
  std::optional<PortRange> dport{};
  std::optional<UidRange> uids{};

  auto operator<=>(const Selector&) const = default;
};

// What becomes of them.
enum class RuleAction : std::uint8_t { lookup, go_to, nop, blackhole, unreachable, prohibit };

// One `ip rule`. Its key is the whole rule: the kernel has no replace, and rules that differ in anything stand side by
// side. Order: family, priority, then the rest.
struct Rule {
  net::Family family = net::Family::v4;
  std::uint32_t priority = 0;
  Selector selector{};
  RuleAction action = RuleAction::lookup;
  bool l3mdev = false;                                  // Look up the table of the packet's VRF; `table` is 0 then.
  std::uint8_t protocol = 0;                            // Who made it: ours is Ownership's number.
  std::uint32_t table = 0;                              // For lookup; 32 bits.
  std::uint32_t target = 0;                             // For go_to: the priority to continue at.
  std::optional<std::uint8_t> suppress_prefixlength{};  // A route no longer than this does not count.
  std::optional<std::uint32_t> suppress_ifgroup{};

  auto operator<=>(const Rule&) const = default;
};

// The one form of rules that mean the same: a source of length 0 is no source, a mark has no bits outside its mask.
Rule canonical(Rule rule);
bool is_canonical(const Rule& rule);

// What the kernel would refuse, or take for something else than it says; the message begins with the field's name.
// For rules that somebody desires: those observed are as they are.
base::Status validate(const Rule& rule);

// A table that a user may name: not 0 (the kernel would pick one), not one of the kernel's own.
base::Status validate_table(std::uint32_t table);

// As a line of `ip rule`, with a blank for its tab: "500: from 10.0.0.7 lookup 100 proto 183". IPv4 and IPv6 rules may
// have the same text. parse() takes every text() back, and `priority N` instead of `N:` as in `ip rule add`.
std::string text(const Rule& rule);
base::Result<Rule> parse_rule(net::Family family, std::string_view text);

}  // namespace state

template <>
struct std::hash<state::Rule> {
  std::size_t operator()(const state::Rule& rule) const noexcept;
};
