#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "state/rule_match.h"

// For tests: rules and routes as the kernel treats them, small enough to be checked by reading.
namespace plan {

struct Packet {
  net::Address source{};
  net::Address destination{};
  std::uint32_t mark = 0;
};

inline bool matches(const state::Selector& selector, const Packet& packet) {
  const bool hit = (!selector.from || selector.from->contains(packet.source)) &&
                   (!selector.to || selector.to->contains(packet.destination)) &&
                   (!selector.mark || (packet.mark & selector.mark->mask) == selector.mark->value);
  return hit != selector.invert;
}

class KernelModel {
 public:
  // Table -> destination -> where it leads.
  using Tables = std::map<std::uint32_t, std::map<net::Prefix, std::string>>;

  std::vector<state::Rule> rules{};

  // False as the kernel's EEXIST. A new rule goes behind those of its priority.
  bool add(const state::Rule& rule, bool exclusive) {
    const auto blocks = [&](const state::Rule& other) { return state::blocks_exclusive_add(other, rule); };
    if (exclusive && std::ranges::any_of(rules, blocks)) return false;
    const auto after = [&](const state::Rule& other) {
      return std::tie(other.family, other.priority) > std::tie(rule.family, rule.priority);
    };
    rules.insert(std::ranges::find_if(rules, after), rule);
    return true;
  }

  // False as the kernel's ENOENT.
  bool remove(const state::Rule& request) {
    const auto taken =
        std::ranges::find_if(rules, [&](const state::Rule& rule) { return state::delete_takes(request, rule); });
    if (taken == rules.end()) return false;
    rules.erase(taken);
    return true;
  }

  bool apply(const Op& op) {
    if (const auto* const added = std::get_if<AddRule>(&op)) return add(added->rule, added->exclusive);
    if (const auto* const removed = std::get_if<RemoveRule>(&op)) return remove(removed->rule);
    return false;
  }

  // fib_rules_lookup() and the table lookup under it.
  std::optional<std::string> lookup(const Tables& tables, const Packet& packet) const {
    std::uint32_t jump = 0;
    for (const state::Rule& rule : rules) {
      if (rule.family != packet.source.family() || rule.priority < jump || !matches(rule.selector, packet)) continue;
      if (rule.action == state::RuleAction::go_to) jump = rule.target;
      if (rule.action == state::RuleAction::blackhole) return "blackhole";
      if (rule.action != state::RuleAction::lookup) continue;
      if (auto answer = route(tables, rule, packet)) return answer;
    }
    return std::nullopt;
  }

 private:
  static std::optional<std::string> route(const Tables& tables, const state::Rule& rule, const Packet& packet) {
    const auto table = tables.find(rule.table);
    if (table == tables.end()) return std::nullopt;
    std::optional<std::pair<int, std::string>> best;
    for (const auto& [prefix, answer] : table->second) {
      if (prefix.contains(packet.destination) && (!best || prefix.length() > best->first)) {
        best = {prefix.length(), answer};
      }
    }
    if (!best || (rule.suppress_prefixlength && best->first <= *rule.suppress_prefixlength)) return std::nullopt;
    return best->second;
  }
};

}  // namespace plan
