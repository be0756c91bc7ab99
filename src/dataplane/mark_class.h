#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "net/address.h"
#include "state/nft_table.h"
#include "state/rule.h"

namespace dataplane {

// One table to look into, at its place among all rules.
struct Lookup {
  std::uint32_t priority = 0;
  std::uint32_t table = 0;
  auto operator<=>(const Lookup&) const = default;
};

// In order of priority. A table without a fitting route passes the packet on to the next lookup.
using Path = std::vector<Lookup>;

// Packets that take the same path share a class and its mark. Source and reply classes are never shared.
struct ClassKey {
  state::NftClassKind kind = state::NftClassKind::source;
  std::optional<std::uint32_t> guard{};  // The priority at which `main` is asked first, its default route aside.
  Path path{};
  auto operator<=>(const ClassKey&) const = default;
};

// A packet from a source that is also a reply takes both paths at once, merged by priority, as it does while the source
// is steered by `from` rules. At one priority the reply's table comes first.
ClassKey join(const ClassKey& source, const ClassKey& reply);

// The rules of the class in one family, in walk order.
std::vector<state::Rule> class_rules(const ClassKey& key, state::Mark mark, net::Family family, std::uint8_t protocol);

// What the kernel has of a class, its rules perhaps not all.
struct Remains {
  state::NftClassKind kind = state::NftClassKind::source;
  std::vector<state::Rule> rules{};
  std::vector<net::Address> members{};             // In order.
  std::map<std::uint32_t, std::uint32_t> joins{};  // As in state::NftClass.

  bool operator==(const Remains&) const = default;
};

// Who holds which mark. Marks are sticky: a class keeps its mark while it is wanted, and a mark goes to another class
// only after its rules, chain and elements were seen to be gone.
struct Marks {
  std::map<ClassKey, std::uint32_t> held{};
  std::set<std::uint32_t> in_use{};                 // Marks that something in the kernel still refers to.
  std::map<std::uint32_t, Remains> unremembered{};  // By mark: `held` has them, if at all, by their rules alone.

  bool operator==(const Marks&) const = default;
};

// What our own rules and chains in the kernel say of the marks that are not `remembered`. `rules` in the kernel's
// order. A mark whose rules are not those of a class (a change was cut short) is in use and held by none.
Marks read_back(const std::vector<state::Rule>& rules, const std::optional<state::NftTable>& table,
                std::uint32_t window, std::uint8_t protocol, const std::set<std::uint32_t>& remembered = {});

}  // namespace dataplane
