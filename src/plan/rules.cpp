#include "plan/rules.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "state/rule_match.h"

namespace plan {
namespace {

using state::Rule;

struct ByValue {
  std::size_t operator()(const Rule* rule) const { return std::hash<Rule>()(*rule); }
  bool operator()(const Rule* one, const Rule* other) const { return *one == *other; }
};

// Desired rules, each once, in canonical form, with the number of copies the kernel holds.
struct Wanted {
  struct Copies {
    std::size_t count = 0;
    std::size_t first = 0;  // Where the first one stands in the observed list.
  };
  std::deque<Rule> rewritten{};  // Those that were not in canonical form; the others are used in place.
  std::unordered_map<const Rule*, Copies, ByValue, ByValue> rules{};
};

base::Status check(const Rule& rule, const Ownership& ownership) {
  TRY(state::validate(rule));
  if (!ownership.owns(rule)) {
    return base::fail(base::Fault::invalid, fmt::format("protocol: {} is not ours", rule.protocol));
  }
  return {};
}

Wanted collect_wanted(const state::NetState& desired, const Ownership& ownership, std::vector<Refusal>& refused) {
  Wanted wanted;
  wanted.rules.reserve(desired.rules.size());
  for (const Rule& given : desired.rules) {
    const Rule* rule = state::is_canonical(given) ? &given : &wanted.rewritten.emplace_back(state::canonical(given));
    if (auto status = check(*rule, ownership); !status) {
      refused.push_back({.desired = *rule, .reason = std::move(status).error()});
      continue;
    }
    wanted.rules.try_emplace(rule);
  }
  std::ranges::sort(refused, {}, &Refusal::desired);
  return wanted;
}

// An own rule in the observed list.
struct Standing {
  const Rule* rule = nullptr;
  std::size_t position = 0;
};

// Requests treat much of what a rule lacks as "any" (state/rule_match.h). Rules that agree in all that a request always
// carries form a group; while all of a group have the same attributes, no request made from one can hit another.
struct Group {
  std::optional<std::uint32_t> shape{};
  bool mixed = false;
  std::vector<const Rule*> all{};  // Only of a mixed group.
  std::vector<Standing*> kept{};   // Likewise.
};
using GroupKey = std::tuple<net::Family, std::uint32_t, state::RuleAction, std::uint32_t, std::uint8_t>;

GroupKey group_key(const Rule& rule) {
  return {rule.family, rule.priority, rule.action, rule.table, rule.protocol};
}

std::uint32_t shape_of(const Rule& rule) {
  const state::Selector& s = rule.selector;
  std::uint32_t shape = 0;
  for (const bool has :
       {s.from.has_value(), s.to.has_value(), !s.iif.empty(), !s.oif.empty(), s.mark && s.mark->value != 0,
        s.mark && s.mark->mask != 0, s.tos != 0, s.ip_protocol != 0, s.sport.has_value(), s.dport.has_value(),
        s.uids.has_value(), rule.l3mdev, rule.suppress_prefixlength.has_value(), rule.suppress_ifgroup.has_value()}) {
    shape = shape << 1U | (has ? 1U : 0U);
  }
  return shape;
}

// The kernel never compares these two, so any two rules with them may be taken for each other.
bool is_never_alone(const Rule& rule) {
  return rule.selector.invert || rule.action == state::RuleAction::go_to;
}

class Groups {
 public:
  void note(const Rule& rule) {
    Group& group = of(rule);
    const std::uint32_t shape = shape_of(rule);
    if (!group.shape) group.shape = shape;
    if (*group.shape != shape || is_never_alone(rule)) group.mixed = true;
  }
  // After every rule was noted.
  void join(const Rule& rule) {
    if (Group& group = of(rule); group.mixed) group.all.push_back(&rule);
  }
  void join_kept(Standing& kept) {
    if (Group& group = of(*kept.rule); group.mixed) group.kept.push_back(&kept);
  }

  bool exclusive_add_is_blocked(const Rule& added) {
    return std::ranges::any_of(of(added).all, [&](const Rule* other) {
      return *other != added && state::blocks_exclusive_add(*other, added);
    });
  }
  // Whether a removal could take another rule than it is meant for, wherever the two stand.
  bool removal_is_ambiguous(const Rule& removed) {
    return std::ranges::any_of(
        of(removed).all, [&](const Rule* other) { return *other != removed && state::delete_takes(removed, *other); });
  }
  // The wanted rules that a removal would take instead of the one that stands at `position`, in kernel order.
  std::vector<Standing*> victims(const Rule& removed, std::size_t position) {
    std::vector<Standing*> out;
    for (Standing* kept : of(removed).kept) {
      if (kept->position < position && *kept->rule != removed && state::delete_takes(removed, *kept->rule)) {
        out.push_back(kept);
      }
    }
    std::ranges::sort(out, {}, [](const Standing* one) { return one->position; });
    return out;
  }

 private:
  Group& of(const Rule& rule) {
    const GroupKey key = group_key(rule);
    if (last_ == nullptr || last_->first != key) last_ = &*groups_.try_emplace(key).first;
    return last_->second;
  }

  std::map<GroupKey, Group> groups_;
  std::pair<const GroupKey, Group>* last_ = nullptr;  // Rules come in runs of one group.
};

std::vector<AddRule> order_adds(std::vector<const Rule*> missing, bool verified, Groups& groups) {
  std::ranges::sort(missing, {}, [](const Rule* rule) -> const Rule& { return *rule; });
  std::vector<AddRule> out;
  out.reserve(missing.size());
  const auto same_priority = [](const Rule* one, const Rule* other) {
    return one->family == other->family && one->priority == other->priority;
  };
  for (auto run = missing.begin(); run != missing.end();) {
    const auto end = std::find_if_not(run, missing.end(), [&](const Rule* rule) { return same_priority(*run, rule); });
    const bool bulk = end - run > static_cast<std::ptrdiff_t>(kMostExclusiveAdds);
    for (; run != end; ++run) {
      const bool exclusive = !verified || (!bulk && !groups.exclusive_add_is_blocked(**run));
      out.push_back({.rule = **run, .exclusive = exclusive});
    }
  }
  return out;
}

// Before a removal that would take wanted rules first, each of those is added again at the end of its priority and its
// old copy removed: both are there meanwhile, and then the removal finds what it is meant for.
void append_removal(std::vector<Op>& out, const Standing& removed, bool verified, Groups& groups) {
  if (!verified && groups.removal_is_ambiguous(*removed.rule)) return;  // Nobody knows which stands first.
  for (Standing* victim : groups.victims(*removed.rule, removed.position)) {
    out.emplace_back(AddRule{.rule = *victim->rule, .exclusive = false});
    out.emplace_back(RemoveRule{.rule = *victim->rule});
    victim->position = std::numeric_limits<std::size_t>::max();
  }
  out.emplace_back(RemoveRule{.rule = *removed.rule});
}

std::vector<Op> order_removals(std::vector<Standing> surplus, bool verified, Groups& groups) {
  std::ranges::sort(surplus, [](const Standing& one, const Standing& other) {
    return std::tuple(one.rule->family, other.rule->priority, one.position) <
           std::tuple(other.rule->family, one.rule->priority, other.position);
  });
  std::vector<Op> out;
  out.reserve(surplus.size());
  for (const Standing& removed : surplus) append_removal(out, removed, verified, groups);
  return out;
}

std::vector<Clash> find_clashes(const Wanted& wanted, std::vector<const Rule*> foreign) {
  const auto place = [](const Rule* rule) { return std::tie(rule->family, rule->priority, rule->selector); };
  std::ranges::sort(foreign, {}, place);
  std::vector<Clash> out;
  for (const auto& [rule, copies] : wanted.rules) {
    for (const Rule* other : std::ranges::equal_range(foreign, place(rule), {}, place)) {
      out.push_back({.desired = *rule, .foreign = *other});
    }
  }
  std::ranges::sort(out, {}, [](const Clash& clash) { return std::tie(clash.desired, clash.foreign); });
  return out;
}

// The observed rules, told apart.
struct Sorted {
  std::vector<const Rule*> own{};
  std::vector<const Rule*> foreign{};
  std::vector<Standing> kept{};     // The first copy of each wanted rule.
  std::vector<Standing> surplus{};  // What nobody wants, and further copies.
};

Sorted sort_observed(const state::NetState& observed, bool verified, Wanted& wanted, const Ownership& ownership) {
  Sorted out;
  for (std::size_t i = 0; i < observed.rules.size(); ++i) {
    const Rule& rule = observed.rules[i];
    if (!ownership.owns(rule)) {
      out.foreign.push_back(&rule);
      continue;
    }
    out.own.push_back(&rule);
    const auto found = wanted.rules.find(&rule);
    if (found == wanted.rules.end()) {
      out.surplus.push_back({.rule = &rule, .position = i});
    } else if (found->second.count++ == 0) {
      found->second.first = i;
      out.kept.push_back({.rule = &rule, .position = i});
    } else if (verified) {
      // A removal takes the first of the copies.
      out.surplus.push_back({.rule = &rule, .position = found->second.first});
    }
  }
  return out;
}

}  // namespace

RuleChanges diff_rules(const state::NetState& observed, bool verified, const state::NetState& desired,
                       const Ownership& ownership) {
  RuleChanges out;
  Wanted wanted = collect_wanted(desired, ownership, out.refused);
  Sorted sorted = sort_observed(observed, verified, wanted, ownership);
  std::vector<const Rule*> missing;
  for (const auto& [rule, copies] : wanted.rules) {
    if (copies.count == 0) missing.push_back(rule);
  }

  Groups groups;
  for (const auto* rules : {&sorted.own, &missing}) {
    for (const Rule* rule : *rules) groups.note(*rule);
  }
  for (const auto* rules : {&sorted.own, &missing}) {
    for (const Rule* rule : *rules) groups.join(*rule);
  }
  for (Standing& standing : sorted.kept) groups.join_kept(standing);

  out.add = order_adds(std::move(missing), verified, groups);
  out.remove = order_removals(std::move(sorted.surplus), verified, groups);
  for (const state::OpaqueRule& rule : observed.opaque_rules) {
    if (ownership.owns(rule)) out.remove.emplace_back(RemoveOpaqueRule{.rule = rule});
  }
  out.clashes = find_clashes(wanted, std::move(sorted.foreign));
  return out;
}

}  // namespace plan
