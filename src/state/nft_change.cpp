#include "state/nft_change.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace state {
namespace {

using Elements = std::map<net::Address, std::uint32_t>;

// Both are in order: one walk over the two.
void diff_elements(const Elements& have, const Elements& want, Elements& add, Elements& remove) {
  std::ranges::set_difference(want, have, std::inserter(add, add.end()));
  std::ranges::set_difference(have, want, std::inserter(remove, remove.end()));
}

void diff_classes(const NftTable& have, const NftTable& want, NftChange& out) {
  for (const auto& [mark, entry] : want.classes) {
    const auto there = have.classes.find(mark);
    // A chain's name says its kind: another kind is another chain, and the old one goes.
    const bool is_new = there == have.classes.end() || there->second.kind != entry.kind;
    if (is_new) out.new_classes.insert(mark);
    if (is_new || there->second != entry) out.put_classes.emplace(mark, entry);
  }
  for (const auto& [mark, entry] : have.classes) {
    const auto kept = want.classes.find(mark);
    if (kept == want.classes.end() || kept->second.kind != entry.kind) out.remove_classes.emplace(mark, entry);
  }
}

// Takes up to `budget` elements from the front of `from`; with a budget of 0, none.
void take(Elements& from, Elements& into, std::size_t& budget) {
  while (budget > 0 && !from.empty()) {
    into.insert(into.end(), from.extract(from.begin()));
    --budget;
  }
}

// A VIP or a join that changes may meet any source, and a table that is replaced is missed by all of them at once. (A
// mark whose class becomes one of another kind is nothing a compilation asks for.)
bool each_source_stands_alone(const NftChange& change) {
  if (change.table == NftChange::Table::create) return true;
  const auto is_new = [&](const auto& entry) { return change.new_classes.contains(entry.first); };
  return change.table == NftChange::Table::keep && change.add_vips.empty() && change.remove_vips.empty() &&
         change.add_own.empty() && change.remove_own.empty() && std::ranges::all_of(change.put_classes, is_new) &&
         std::ranges::none_of(change.remove_classes, is_new);
}

// A source that moves is removed and added in the same piece.
void take_moves(NftChange& from, NftChange& into, std::size_t& budget) {
  for (auto it = from.remove_sources.begin(); it != from.remove_sources.end() && budget > 0;) {
    const auto added = from.add_sources.find(it->first);
    if (added != from.add_sources.end()) into.add_sources.insert(from.add_sources.extract(added));
    into.remove_sources.insert(from.remove_sources.extract(it++));
    --budget;
  }
}

std::string elements_text(std::string_view verb, std::string_view map, const Elements& elements, NftClassKind kind,
                          std::uint32_t window) {
  std::string out;
  for (const auto& [address, mark] : elements) {
    out += fmt::format("{} element {}{} {} : goto {}\n", verb, map, address.family() == net::Family::v4 ? 4 : 6,
                       address.text(), chain_name(kind, mark, window));
  }
  return out;
}

std::string own_text(std::string_view verb, const std::set<net::Prefix>& prefixes) {
  std::string out;
  for (const auto& prefix : prefixes) {
    out += fmt::format("{} element own{} {}\n", verb, prefix.family() == net::Family::v4 ? 4 : 6, prefix.text());
  }
  return out;
}

std::string classes_text(std::string_view verb, const std::map<std::uint32_t, NftClass>& classes,
                         std::uint32_t window) {
  std::string out;
  for (const auto& [mark, entry] : classes) {
    out += fmt::format("{} chain {} mark {:#x}/{:#x}", verb, chain_name(entry.kind, mark, window), mark, window);
    for (const auto& [reply, both] : entry.joins) {
      out += fmt::format(" with {} {}", chain_name(NftClassKind::reply, reply, window),
                         chain_name(NftClassKind::both, both, window));
    }
    out += '\n';
  }
  return out;
}

}  // namespace

bool NftChange::empty() const {
  NftChange nothing;
  nothing.window = window;
  return *this == nothing;
}

NftChange diff(const std::optional<NftTable>& observed, const std::vector<std::string>& strange,
               const std::optional<NftTable>& desired) {
  NftChange out;
  if (!desired) {
    if (observed) out.table = NftChange::Table::destroy;
    return out;
  }
  out.window = desired->window;
  const bool as_made = observed && strange.empty() && observed->window == desired->window;
  if (!as_made) out.table = observed ? NftChange::Table::replace : NftChange::Table::create;
  const NftTable nothing{.window = desired->window};
  const NftTable& have = as_made ? *observed : nothing;  // No copy: it may hold very many.
  diff_classes(have, *desired, out);
  diff_elements(have.sources, desired->sources, out.add_sources, out.remove_sources);
  diff_elements(have.vips, desired->vips, out.add_vips, out.remove_vips);
  std::ranges::set_difference(desired->own, have.own, std::inserter(out.add_own, out.add_own.end()));
  std::ranges::set_difference(have.own, desired->own, std::inserter(out.remove_own, out.remove_own.end()));
  return out;
}

std::vector<NftChange> split(NftChange change, std::size_t elements) {
  if (!each_source_stands_alone(change) || change.add_sources.size() + change.remove_sources.size() <= elements) {
    return {std::move(change)};
  }

  std::vector<NftChange> out;
  Elements add = std::exchange(change.add_sources, {});
  Elements remove = std::exchange(change.remove_sources, {});
  auto gone = std::exchange(change.remove_classes, {});
  NftChange rest{.window = change.window, .add_sources = std::move(add), .remove_sources = std::move(remove)};
  out.push_back(std::move(change));  // Chains, before any source refers to them.
  while (!rest.add_sources.empty() || !rest.remove_sources.empty()) {
    std::size_t budget = elements;
    NftChange piece{.window = rest.window};
    take_moves(rest, piece, budget);
    take(rest.add_sources, piece.add_sources, budget);
    out.push_back(std::move(piece));
  }
  out.back().remove_classes = std::move(gone);  // When nothing refers to them any more.
  return out;
}

void apply(const NftChange& change, std::optional<NftTable>& table) {
  if (change.table == NftChange::Table::destroy) return table.reset();
  if (change.table != NftChange::Table::keep) table = NftTable{.window = change.window};
  if (!table) return;
  for (const auto& [mark, entry] : change.remove_classes) table->classes.erase(mark);
  for (const auto& [mark, entry] : change.put_classes) table->classes[mark] = entry;
  for (const auto& [address, mark] : change.remove_sources) table->sources.erase(address);
  for (const auto& [address, mark] : change.add_sources) table->sources[address] = mark;
  for (const auto& [address, mark] : change.remove_vips) table->vips.erase(address);
  for (const auto& [address, mark] : change.add_vips) table->vips[address] = mark;
  for (const auto& prefix : change.remove_own) table->own.erase(prefix);
  table->own.insert(change.add_own.begin(), change.add_own.end());
}

std::string text(const NftChange& change) {
  using enum NftClassKind;
  const std::uint32_t window = change.window;
  if (change.table == NftChange::Table::destroy) return fmt::format("delete table inet {}\n", kNftTableName);
  std::string out;
  if (change.table != NftChange::Table::keep) {
    const bool there = change.table == NftChange::Table::replace;
    out += fmt::format("{} table inet {}\n", there ? "replace" : "create", kNftTableName);
  }
  return out + classes_text("put", change.put_classes, window) +
         elements_text("delete", "src", change.remove_sources, source, window) +
         elements_text("add", "src", change.add_sources, source, window) +
         elements_text("delete", "vip", change.remove_vips, reply, window) +
         elements_text("add", "vip", change.add_vips, reply, window) + own_text("delete", change.remove_own) +
         own_text("add", change.add_own) + classes_text("delete", change.remove_classes, window);
}

}  // namespace state
