#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "net/address.h"
#include "state/address.h"
#include "state/link.h"
#include "state/nexthop.h"
#include "state/nft_table.h"
#include "state/opaque_route.h"
#include "state/route.h"
#include "state/rule.h"

namespace state {

// An observed rule with something in it that we do not know: never equal to any rule, foreign unless its protocol says
// otherwise. The wire form is kept, because nothing less can name it in a request.
struct OpaqueRule {
  net::Family family = net::Family::v4;
  std::uint32_t priority = 0;
  std::uint32_t table = 0;
  std::uint8_t protocol = 0;
  std::string reason{};
  std::vector<std::byte> wire{};

  bool operator==(const OpaqueRule&) const = default;
};

std::string text(const OpaqueRule& rule);

// What a node's network is, or should be. Observed rules stand in the kernel's order (by family, priority and, within
// one priority, age), copies included; the order of desired ones means nothing.
struct NetState {
  std::vector<Rule> rules{};
  std::vector<OpaqueRule> opaque_rules{};  // Observed only.
  std::vector<Route> routes{};
  std::vector<OpaqueRoute> opaque_routes{};  // Observed only.
  std::vector<Nexthop> nexthops{};
  std::vector<OpaqueNexthop> opaque_nexthops{};  // Observed only.
  std::vector<InterfaceAddress> addresses{};
  std::vector<OpaqueAddress> opaque_addresses{};  // Observed only.
  std::vector<Link> links{};                      // Desired only: those to be made.
  std::vector<ObservedLink> observed_links{};     // Observed only: all there are, by index.
  std::optional<NftTable> nft{};                  // Our table; absent: there is none, or shall be none.
  std::vector<std::string> nft_strange{};         // Observed only: what in it we did not make so, each one named.
  std::string nft_unknown{};                      // Observed only: why it could not be read; empty where it was.

  bool operator==(const NetState&) const = default;
};

// Read while nothing changed: what is not in it is not there, what is in it once is there once.
struct Verified {
  NetState state{};
};

// Read while something changed: any object may be missing or appear twice. Good enough to repair by, never to conclude
// "absent", "unique" or "complete" from, so nothing may be acknowledged by it.
struct Unverified {
  NetState state{};
  std::string reason{};
};

// The two are different types so that a function which concludes something can ask for the one it needs.
using Observation = std::variant<Verified, Unverified>;

inline const NetState& state_of(const Observation& observation) {
  return std::visit([](const auto& seen) -> const NetState& { return seen.state; }, observation);
}
const NetState& state_of(Observation&&) = delete;  // The state would die with it.
inline bool is_verified(const Observation& observation) {
  return std::holds_alternative<Verified>(observation);
}

}  // namespace state
