#include "plan/foreign_rules.h"

#include <algorithm>

namespace plan {
namespace {

using state::Rule;

constexpr std::uint8_t kKernelProtocol = 2;                       // RTPROT_KERNEL
constexpr std::uint32_t kKernelPriorities[] = {0, 32766, 32767};  // `local`, `main`, `default`; whoever made them.

bool has_kernels_place(const Rule& rule) {
  return std::ranges::find(kKernelPriorities, rule.priority) != std::end(kKernelPriorities);
}

bool is_steering(const Rule& rule) {
  return rule.action == state::RuleAction::lookup && !rule.l3mdev && rule.selector.from.has_value() &&
         *rule.selector.from == net::Prefix::host(rule.selector.from->address());
}

bool is_qualified(const Rule& rule) {
  const Rule plain{.family = rule.family,
                   .priority = rule.priority,
                   .selector = {.from = rule.selector.from},
                   .protocol = rule.protocol,
                   .table = rule.table};
  return rule != plain;
}

bool is_within(const Rule& rule, const ForeignScope& scope) {
  if (rule.priority < scope.first_priority || rule.priority > scope.last_priority) return false;
  if (is_qualified(rule) && !scope.includes_qualified) return false;
  const bool has_table = scope.tables.empty() || std::ranges::find(scope.tables, rule.table) != scope.tables.end();
  const auto holds = [&](const net::Prefix& source) { return source.contains(rule.selector.from->address()); };
  return has_table && (scope.sources.empty() || std::ranges::any_of(scope.sources, holds));
}

}  // namespace

std::vector<Rule> foreign_rules(const ForeignScope& scope, const state::NetState& observed,
                                const Ownership& ownership) {
  std::vector<Rule> out;
  for (const Rule& rule : observed.rules) {
    if (rule.protocol == kKernelProtocol || ownership.owns(rule) || !is_steering(rule)) continue;
    if (!has_kernels_place(rule) && is_within(rule, scope)) out.push_back(rule);
  }
  return out;
}

std::vector<Rule> rules_of_others(const state::NetState& observed, const Ownership& ownership) {
  std::vector<Rule> out;
  for (const Rule& rule : observed.rules) {
    // Old kernels, and dumps, do not tell who made the three that every host has.
    const bool is_baseline = has_kernels_place(rule) && rule.selector == state::Selector();
    if (rule.protocol != kKernelProtocol && !is_baseline && !ownership.owns(rule)) out.push_back(rule);
  }
  return out;
}

}  // namespace plan
