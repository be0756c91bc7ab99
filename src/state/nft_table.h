#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "net/address.h"
#include "net/prefix.h"

// Our one nftables table, `inet iprule`, as a value. Its base chains and the types of its sets are fixed: what varies
// is who is in which class.
namespace state {

inline constexpr std::string_view kNftTableName = "iprule";

enum class NftClassKind : std::uint8_t {
  source,  // Packets from certain addresses.
  reply,   // Replies of connections to certain VIPs.
  both,    // Packets that are in a source class and in a reply class.
};

// Packets of a class get its mark, under the table's window; other bits of a packet's mark are never written.
struct NftClass {
  NftClassKind kind = NftClassKind::source;
  // Only in a source class: a packet that already bears the mark of a reply class (left) gets the mark of the class
  // for both (right).
  std::map<std::uint32_t, std::uint32_t> joins{};

  bool operator==(const NftClass&) const = default;
};

struct NftTable {
  std::uint32_t window = 0;                         // The bits of the mark that are ours.
  std::map<std::uint32_t, NftClass> classes{};      // By mark.
  std::map<net::Address, std::uint32_t> sources{};  // The mark of a source class.
  std::map<net::Address, std::uint32_t> vips{};     // The mark of a reply class.
  std::set<net::Prefix> own{};                      // Clients inside the cluster: their replies are not steered.

  bool operator==(const NftTable&) const = default;
};

// The class's chain: "source01". The number is the mark's place in the window.
std::string chain_name(NftClassKind kind, std::uint32_t mark, std::uint32_t window);
// The other way; nothing for a name that chain_name() cannot give.
std::optional<std::pair<NftClassKind, std::uint32_t>> parse_chain_name(std::string_view name, std::uint32_t window);

// How many marks other than 0 the window has, and the one at a place from 1 on.
std::uint32_t window_size(std::uint32_t window);
std::uint32_t mark_at(std::uint32_t place, std::uint32_t window);

// What the kernel would refuse or nobody could mean: a window of scattered bits, a mark outside it, an element or join
// that leads nowhere or to the wrong kind, own prefixes that overlap.
base::Status validate(const NftTable& table);

// The prefixes without those that lie inside another one: an interval set refuses overlaps.
std::set<net::Prefix> without_overlaps(const std::set<net::Prefix>& prefixes);

}  // namespace state
