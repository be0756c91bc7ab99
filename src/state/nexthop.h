#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/address.h"
#include "net/interface_name.h"

namespace state {

struct NexthopMember {
  std::uint32_t id = 0;
  std::uint16_t weight = 1;  // 1 to 255.

  auto operator<=>(const NexthopMember&) const = default;
};

// A group that moves as few flows as it can when its members change. Timers are hundredths of a second.
struct Resilience {
  std::uint16_t buckets = 0;
  std::uint32_t idle_timer = 0;
  std::uint32_t unbalanced_timer = 0;

  auto operator<=>(const Resilience&) const = default;
};

// One `ip nexthop`: a way out, nothing (blackhole), or a group of others. Routes name it by its id, which is its key.
struct Nexthop {
  std::uint32_t id = 0;
  net::Family family = net::Family::v4;  // A group has none and says v4.
  std::uint8_t protocol = 0;             // Who made it: ours is Ownership's number.
  bool blackhole = false;
  net::InterfaceName dev{};
  std::optional<net::Address> via{};
  bool onlink = false;
  std::vector<NexthopMember> group{};
  std::optional<Resilience> resilience{};

  auto operator<=>(const Nexthop&) const = default;
};

inline std::uint32_t key(const Nexthop& nexthop) {
  return nexthop.id;
}

// The one form of nexthops that mean the same: members in order.
Nexthop canonical(Nexthop nexthop);

// What the kernel would refuse, or take for something else than it says; the message begins with the field's name.
base::Status validate(const Nexthop& nexthop);

// As a line of `ip nexthop`: "id 5 via 10.0.0.1 dev eth0 proto 183", "id 6 group 5/7,2 proto 183". parse_nexthop()
// takes every text() back.
std::string text(const Nexthop& nexthop);
base::Result<Nexthop> parse_nexthop(net::Family family, std::string_view text);

// An observed nexthop with something in it that we do not know: never equal to any.
struct OpaqueNexthop {
  std::uint32_t id = 0;
  std::uint8_t protocol = 0;
  std::string reason{};

  auto operator<=>(const OpaqueNexthop&) const = default;
};
std::string text(const OpaqueNexthop& nexthop);

}  // namespace state
