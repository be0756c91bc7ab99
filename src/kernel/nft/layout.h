#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernel/nft/expression.h"
#include "net/address.h"

// The part of our table that never varies: what the encoder writes and the decoder expects.
namespace kernel::nft {

struct Set {
  std::string_view name;
  net::Family family;
  bool is_map;  // From addresses to verdicts; else a set of intervals.
};

inline constexpr std::array kSets = {
    Set{"src4", net::Family::v4, true}, Set{"src6", net::Family::v6, true},  Set{"vip4", net::Family::v4, true},
    Set{"vip6", net::Family::v6, true}, Set{"own4", net::Family::v4, false}, Set{"own6", net::Family::v6, false},
};

// What a set is to the kernel.
std::uint32_t flags_of(const Set& set);
std::uint32_t key_type_of(const Set& set);  // Known to nft alone, which prints elements by it.
std::uint32_t key_length_of(const Set& set);

constexpr std::string_view source_map(net::Family family) {
  return family == net::Family::v4 ? "src4" : "src6";
}
constexpr std::string_view vip_map(net::Family family) {
  return family == net::Family::v4 ? "vip4" : "vip6";
}
constexpr std::string_view own_set(net::Family family) {
  return family == net::Family::v4 ? "own4" : "own6";
}

// Where a chain is called by the kernel itself.
struct Hook {
  std::string_view type;  // Empty: a chain that only others call.
  std::uint32_t number = 0;
  std::int32_t priority = 0;

  bool operator==(const Hook&) const = default;
};

struct BaseChain {
  std::string_view name;
  Hook hook;
};

std::vector<BaseChain> base_chains();

struct BaseRule {
  std::string_view chain;
  Expressions does;
};

std::vector<BaseRule> base_rules();

// The rule at the end of each class's chain: bits of the packet's mark outside the window stay as they are.
Expressions set_mark(std::uint32_t window, std::uint32_t mark);
// In a source's chain: a packet that bears this reply's mark goes on in the chain for both.
Expressions join(std::uint32_t window, std::uint32_t reply, std::string both);

}  // namespace kernel::nft
