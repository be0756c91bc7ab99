#include "state/nft_table.h"

#include <bit>
#include <charconv>
#include <iterator>

#include <fmt/format.h>

namespace state {
namespace {

using base::Fault;

constexpr std::string_view prefix_of(NftClassKind kind) {
  switch (kind) {
    case NftClassKind::source:
      return "source";
    case NftClassKind::reply:
      return "reply";
    case NftClassKind::both:
      return "both";
  }
  return "";
}

base::Status validate_window(std::uint32_t window) {
  const std::uint32_t low = window == 0 ? 0 : window >> static_cast<unsigned>(std::countr_zero(window));
  if (low != 0 && (low & (low + 1)) == 0) return {};
  return base::fail(Fault::invalid, fmt::format("window {:#x}: must be one run of bits", window));
}

base::Status validate_class(const NftTable& table, std::uint32_t mark, const NftClass& entry) {
  const auto kind_of = [&](std::uint32_t other) -> std::optional<NftClassKind> {
    const auto found = table.classes.find(other);
    return found == table.classes.end() ? std::nullopt : std::optional(found->second.kind);
  };
  if (mark == 0 || (mark & ~table.window) != 0) {
    return base::fail(Fault::invalid, fmt::format("class {:#x}: not a mark of window {:#x}", mark, table.window));
  }
  if (entry.kind != NftClassKind::source && !entry.joins.empty()) {
    return base::fail(Fault::invalid, fmt::format("class {:#x}: only a source class has joins", mark));
  }
  for (const auto& [reply, both] : entry.joins) {
    if (kind_of(reply) != NftClassKind::reply || kind_of(both) != NftClassKind::both) {
      return base::fail(Fault::invalid, fmt::format("class {:#x}: join {:#x} -> {:#x}", mark, reply, both));
    }
  }
  return {};
}

base::Status validate_elements(const NftTable& table, const std::map<net::Address, std::uint32_t>& elements,
                               NftClassKind kind) {
  for (const auto& [address, mark] : elements) {
    const auto found = table.classes.find(mark);
    if (found == table.classes.end() || found->second.kind != kind) {
      return base::fail(Fault::invalid,
                        fmt::format("{} {}: {:#x} is no such class", prefix_of(kind), address.text(), mark));
    }
  }
  return {};
}

}  // namespace

std::uint32_t window_size(std::uint32_t window) {
  return window == 0 ? 0 : window >> static_cast<unsigned>(std::countr_zero(window));
}

std::uint32_t mark_at(std::uint32_t place, std::uint32_t window) {
  return place << static_cast<unsigned>(std::countr_zero(window));
}

std::string chain_name(NftClassKind kind, std::uint32_t mark, std::uint32_t window) {
  return fmt::format("{}{:02}", prefix_of(kind), mark >> static_cast<unsigned>(std::countr_zero(window)));
}

std::optional<std::pair<NftClassKind, std::uint32_t>> parse_chain_name(std::string_view name, std::uint32_t window) {
  for (const auto kind : {NftClassKind::source, NftClassKind::reply, NftClassKind::both}) {
    if (!name.starts_with(prefix_of(kind))) continue;
    const std::string_view digits = name.substr(prefix_of(kind).size());
    std::uint32_t place = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), place);
    if (error != std::errc() || place == 0 || place > window_size(window)) return std::nullopt;
    const std::uint32_t mark = mark_at(place, window);
    if (chain_name(kind, mark, window) != name) return std::nullopt;  // "source1", "source001", "source01x"
    return std::pair(kind, mark);
  }
  return std::nullopt;
}

base::Status validate(const NftTable& table) {
  TRY(validate_window(table.window));
  for (const auto& [mark, entry] : table.classes) TRY(validate_class(table, mark, entry));
  TRY(validate_elements(table, table.sources, NftClassKind::source));
  TRY(validate_elements(table, table.vips, NftClassKind::reply));
  if (without_overlaps(table.own) != table.own) return base::fail(Fault::invalid, "own prefixes overlap");
  return {};
}

std::set<net::Prefix> without_overlaps(const std::set<net::Prefix>& prefixes) {
  std::set<net::Prefix> out;
  for (const net::Prefix& prefix : prefixes) {
    // In order of address, then length, whatever contains this one is the last one kept.
    if (!out.empty() && out.rbegin()->overlaps(prefix)) continue;
    out.insert(out.end(), prefix);
  }
  return out;
}

}  // namespace state
