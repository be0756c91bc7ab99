#include "plan/retain.h"

#include <unordered_set>
#include <utility>

namespace plan {
namespace {

void retain_rules(std::vector<state::Rule>& desired, const std::vector<state::Rule>& observed,
                  const Ownership& ownership) {
  const std::unordered_set<state::Rule> wanted(desired.begin(), desired.end());
  for (const state::Rule& rule : observed) {
    if (ownership.owns(rule) && !wanted.contains(rule)) desired.push_back(rule);
  }
}

// A table that somebody else has changed is no memory of ours.
void retain_table(std::optional<state::NftTable>& desired, const state::NetState& observed) {
  if (!observed.nft || !observed.nft_strange.empty()) return;
  if (!desired) desired = state::NftTable{.window = observed.nft->window};
  if (desired->window != observed.nft->window) return;
  state::NftTable both = *observed.nft;
  for (auto& [mark, entry] : desired->classes) {
    auto& kept = both.classes[mark];
    for (const auto& join : kept.joins) entry.joins.insert(join);
    kept = std::move(entry);
  }
  for (const auto& [address, mark] : desired->sources) both.sources[address] = mark;
  for (const auto& [address, mark] : desired->vips) both.vips[address] = mark;
  both.own.insert(desired->own.begin(), desired->own.end());
  both.own = state::without_overlaps(both.own);
  if (state::validate(both)) desired = std::move(both);  // Else a mark has changed hands.
}

}  // namespace

state::NetState retain(state::NetState desired, const state::NetState& observed, const Ownership& ownership) {
  retain_rules(desired.rules, observed.rules, ownership);
  retain_table(desired.nft, observed);
  return desired;
}

}  // namespace plan
