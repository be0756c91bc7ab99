#pragma once

#include <array>
#include <string_view>

#include "net/address.h"

// The part of our table that never varies, in the words of nft: what the encoder writes and the decoder expects.
namespace kernel::nft {

struct Set {
  std::string_view name;
  std::string_view type;  // Of the key.
  bool is_map;            // To verdicts; else a set of intervals.
};

inline constexpr std::array kSets = {
    Set{"src4", "ipv4_addr", true}, Set{"src6", "ipv6_addr", true},  Set{"vip4", "ipv4_addr", true},
    Set{"vip6", "ipv6_addr", true}, Set{"own4", "ipv4_addr", false}, Set{"own6", "ipv6_addr", false},
};

constexpr std::string_view source_map(net::Family family) {
  return family == net::Family::v4 ? "src4" : "src6";
}
constexpr std::string_view vip_map(net::Family family) {
  return family == net::Family::v4 ? "vip4" : "vip6";
}
constexpr std::string_view own_set(net::Family family) {
  return family == net::Family::v4 ? "own4" : "own6";
}

struct BaseChain {
  std::string_view name;
  std::string_view type;  // Empty: a chain without a hook.
  std::string_view hook;
};

// At the place of `mangle`: after conntrack has found the connection, before routing.
inline constexpr int kManglePriority = -150;

inline constexpr std::array kBaseChains = {
    BaseChain{"reply", "", ""},
    BaseChain{"pre", "filter", "prerouting"},
    BaseChain{"out", "route", "output"},
};

struct BaseRule {
  std::string_view chain;
  std::string_view words;  // As nft takes them, and as phrase() says them.
};

// Replies are judged first: a source's chain then sees whether the packet bears a reply's mark. Sources are matched in
// prerouting alone: in output they would also catch sockets that are bound to no address, which a `from` rule does not.
inline constexpr std::array kBaseRules = {
    BaseRule{"reply", "ct original ip saddr @own4 return"},
    BaseRule{"reply", "ct original ip6 saddr @own6 return"},
    BaseRule{"reply", "ct original ip daddr vmap @vip4"},
    BaseRule{"reply", "ct original ip6 daddr vmap @vip6"},
    BaseRule{"pre", "ct direction reply jump reply"},
    BaseRule{"pre", "ip saddr vmap @src4"},
    BaseRule{"pre", "ip6 saddr vmap @src6"},
    BaseRule{"out", "ct direction reply jump reply"},
};

}  // namespace kernel::nft
