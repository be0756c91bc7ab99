#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "base/result.h"
#include "net/prefix.h"

// A set of intervals has two elements for each: its first address, and the first one behind it.
namespace kernel::nft {

// An address in network order; the first four bytes for IPv4. Not net::Address: the one behind a prefix may be an IPv4-
// mapped one, which that cannot hold.
using Key = std::array<std::byte, 16>;

// Nothing behind a prefix that reaches to the last address there is.
std::optional<Key> key_behind(const net::Prefix& prefix);

struct IntervalEnd {
  Key key{};
  bool is_behind = false;  // The first address behind an interval; else its own first.
};

// The prefixes that these ends, in any order, are of. An error names the first that are of no prefix.
base::Result<std::set<net::Prefix>> prefixes_of(std::vector<IntervalEnd> ends, net::Family family);

}  // namespace kernel::nft
