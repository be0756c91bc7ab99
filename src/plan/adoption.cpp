#include "plan/adoption.h"

#include <algorithm>
#include <utility>

#include "plan/sure_removal.h"

namespace plan {
namespace {

using state::Rule;

// As the old project wrote them, and nothing besides.
Rule plain(const Heirloom& heirloom, std::uint32_t priority) {
  return {.family = heirloom.source.family(),
          .priority = priority,
          .selector = {.from = net::Prefix::host(heirloom.source)},
          .table = heirloom.table};
}

bool is_inherited(const Rule& rule, std::span<const Heirloom> sorted) {
  if (!rule.selector.from || rule.protocol != 0) return false;
  const auto place = [](const Heirloom& heirloom) { return std::pair(heirloom.source, heirloom.table); };
  const auto wanted = std::pair(rule.selector.from->address(), rule.table);
  for (const Heirloom& heirloom : std::ranges::equal_range(sorted, wanted, {}, place)) {
    const bool fits = heirloom.priority ? rule.priority == *heirloom.priority : rule.priority < state::kPriorityMain;
    if (fits && rule == plain(heirloom, rule.priority)) return true;
  }
  return false;
}

}  // namespace

std::vector<Rule> adopted(std::span<const Heirloom> heirlooms, const state::NetState& observed,
                          const Ownership& ownership) {
  std::vector<const Rule*> unsigned_rules;
  for (const Rule& rule : observed.rules) {
    if (rule.protocol == 0 && rule.selector.from) unsigned_rules.push_back(&rule);
  }
  if (unsigned_rules.empty()) return {};

  std::vector<Heirloom> sorted(heirlooms.begin(), heirlooms.end());
  std::ranges::sort(sorted);
  std::vector<Rule> out;
  for (const Rule* rule : unsigned_rules) {
    if (is_inherited(*rule, sorted) && removal_is_sure(*rule, observed, ownership)) out.push_back(*rule);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace plan
