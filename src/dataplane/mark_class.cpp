#include "dataplane/mark_class.h"

#include <algorithm>
#include <iterator>

namespace dataplane {
namespace {

using state::Rule;

Rule lookup_rule(Lookup lookup, state::Mark mark, net::Family family, std::uint8_t protocol) {
  return {.family = family,
          .priority = lookup.priority,
          .selector = {.mark = mark},
          .protocol = protocol,
          .table = lookup.table};
}

// The path that rules of one family spell; nothing if they are no class's rules.
std::optional<ClassKey> spell(const std::vector<Rule>& rules) {
  ClassKey key;
  for (const Rule& rule : rules) {
    const Rule plain = lookup_rule({rule.priority, rule.table}, *rule.selector.mark, rule.family, rule.protocol);
    Rule guard = plain;
    guard.suppress_prefixlength = 0;
    if (rule == plain) {
      key.path.push_back({rule.priority, rule.table});
    } else if (rule == guard && rule.table == state::kTableMain && !key.guard) {
      key.guard = rule.priority;
    } else {
      return std::nullopt;
    }
  }
  return key;
}

// Families that have rules must spell the same path.
std::optional<ClassKey> spell(const Remains& remains) {
  std::map<net::Family, std::vector<Rule>> by_family;
  for (const Rule& rule : remains.rules) by_family[rule.family].push_back(rule);
  std::optional<ClassKey> common;
  for (const auto& [family, some] : by_family) {
    auto key = spell(some);
    if (!key || (common && *common != *key)) return std::nullopt;
    common = std::move(key);
  }
  if (common) common->kind = remains.kind;
  return common;
}

void add_members(const state::NftTable& table, std::map<std::uint32_t, Remains>& remains) {
  for (const auto* elements : {&table.sources, &table.vips}) {
    for (const auto& [address, mark] : *elements) {
      if (const auto found = remains.find(mark); found != remains.end()) found->second.members.push_back(address);
    }
  }
}

}  // namespace

ClassKey join(const ClassKey& source, const ClassKey& reply) {
  ClassKey both{.kind = state::NftClassKind::both, .guard = reply.guard};
  // Stable: at one priority what comes from the reply stays in front.
  std::ranges::merge(reply.path, source.path, std::back_inserter(both.path), {}, &Lookup::priority, &Lookup::priority);
  const auto [repeated, end] = std::ranges::unique(both.path);
  both.path.erase(repeated, end);
  return both;
}

std::vector<Rule> class_rules(const ClassKey& key, state::Mark mark, net::Family family, std::uint8_t protocol) {
  std::vector<Rule> out;
  std::optional<std::uint32_t> guard = key.guard;
  for (const Lookup& lookup : key.path) {
    if (guard && *guard <= lookup.priority) {  // It stands before the reply's first lookup.
      out.push_back(lookup_rule({*guard, state::kTableMain}, mark, family, protocol));
      out.back().suppress_prefixlength = 0;
      guard.reset();
    }
    out.push_back(lookup_rule(lookup, mark, family, protocol));
  }
  return out;
}

Marks read_back(const std::vector<Rule>& rules, const std::optional<state::NftTable>& table, std::uint32_t window,
                std::uint8_t protocol, const std::set<std::uint32_t>& remembered) {
  Marks out;
  std::map<std::uint32_t, std::vector<Rule>> by_mark;
  for (const Rule& rule : rules) {
    if (rule.protocol != protocol || !rule.selector.mark) continue;
    const std::uint32_t mark = rule.selector.mark->value & window;
    if (mark != 0) out.in_use.insert(mark);
    if (rule.selector.mark->mask == window) by_mark[mark].push_back(rule);
  }
  if (!table || table->window != window) return out;
  for (const auto& [mark, entry] : table->classes) {
    out.in_use.insert(mark);
    if (remembered.contains(mark)) continue;
    Remains& remains = out.unremembered[mark];
    remains = {.kind = entry.kind, .joins = entry.joins};
    if (const auto some = by_mark.find(mark); some != by_mark.end()) remains.rules = std::move(some->second);
    if (auto key = spell(remains)) out.held.emplace(*std::move(key), mark);
  }
  if (!out.unremembered.empty()) add_members(*table, out.unremembered);
  return out;
}

}  // namespace dataplane
