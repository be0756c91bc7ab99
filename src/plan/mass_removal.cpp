#include "plan/mass_removal.h"

#include <algorithm>
#include <set>

namespace plan {
namespace {

constexpr std::size_t kFew = 20;

std::set<net::Address> steered(const state::NetState& state, const Ownership& ownership) {
  std::set<net::Address> out;
  for (const state::Rule& rule : state.rules) {
    if (rule.selector.from && ownership.owns(rule)) out.insert(rule.selector.from->address());
  }
  if (!state.nft) return out;
  for (const auto* elements : {&state.nft->sources, &state.nft->vips}) {
    for (const auto& [address, mark] : *elements) out.insert(address);
  }
  return out;
}

}  // namespace

bool is_mass_removal(const state::NetState& observed, const state::NetState& desired, const Ownership& ownership) {
  const auto before = steered(observed, ownership);
  if (before.size() <= kFew) return false;
  const auto after = steered(desired, ownership);
  const auto gone = static_cast<std::size_t>(
      std::ranges::count_if(before, [&](const net::Address& address) { return !after.contains(address); }));
  return gone > kFew && gone * 2 > before.size();
}

}  // namespace plan
