#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "net/address.h"
#include "net/prefix.h"
#include "state/nft_table.h"

namespace state {

// One transaction on our table: packets meet the table before it or the table after it, nothing between.
struct NftChange {
  enum class Table : std::uint8_t {
    keep,     // The rest of this says what becomes other.
    create,   // There is none; the rest of this is what it holds.
    replace,  // It is not as we made it: away with it, and then as for create.
    destroy,  // Nothing else is in this.
  };
  Table table = Table::keep;
  std::uint32_t window = 0;
  std::map<std::uint32_t, NftClass> put_classes{};     // New, or with other joins.
  std::map<std::uint32_t, NftClass> remove_classes{};  // As they were.
  std::map<net::Address, std::uint32_t> add_sources{};
  std::map<net::Address, std::uint32_t> remove_sources{};  // With the mark they had; moved to another: in both.
  std::map<net::Address, std::uint32_t> add_vips{};
  std::map<net::Address, std::uint32_t> remove_vips{};
  std::set<net::Prefix> add_own{};
  std::set<net::Prefix> remove_own{};
  std::set<std::uint32_t> new_classes{};  // Those of put_classes whose chain is not there yet.

  bool operator==(const NftChange&) const = default;
  bool empty() const;
};

// What is in the kernel under our table's name.
struct ObservedNft {
  std::optional<NftTable> table{};     // Absent: there is no such table.
  std::vector<std::string> strange{};  // What is in it, or missing from it, that we did not make so; each one named.

  bool operator==(const ObservedNft&) const = default;
};

// From what is there to what should be there; a table that nobody wants is removed, one with anything strange in it is
// made anew. Both tables must be valid.
//
// With the rules that belong to them, a change goes: rules that are new, this change, rules that are to go. Then every
// packet whose lookup is the same before and after has that lookup at every step: a class's rules are all there before
// its first packet is marked, and after its last; and while a source has a class and `from` rules at once, these name
// the same tables at the same priorities.
NftChange diff(const std::optional<NftTable>& observed, const std::vector<std::string>& strange,
               const std::optional<NftTable>& desired);
inline NftChange diff(const ObservedNft& observed, const std::optional<NftTable>& desired) {
  return diff(observed.table, observed.strange, desired);
}

// The change in pieces of at most `elements` sources, which bounds the memory of a transaction, where each source is a
// meaning of its own: every piece leaves it either as it was or as it shall be. Any other change stays whole.
std::vector<NftChange> split(NftChange change, std::size_t elements);

// What the kernel holds after it.
void apply(const NftChange& change, std::optional<NftTable>& table);

// One line per object, each with its end, in the words of nft: "add element src4 10.0.0.7 : goto source01".
std::string text(const NftChange& change);

}  // namespace state
