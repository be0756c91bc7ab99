#include "plan/rules.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "state/rule_match.h"

namespace plan {
namespace {

using state::Rule;

base::Status check(const Rule& rule, const Ownership& ownership) {
  TRY(state::validate(rule));
  if (!ownership.owns(rule)) {
    return base::fail(base::Fault::invalid, fmt::format("protocol: {} is not ours", rule.protocol));
  }
  return {};
}

// A desired rule, with the number of copies the kernel holds. Small, as every pass makes one for each rule.
struct Wish {
  const Rule* rule = nullptr;
  std::uint32_t copies = 0;
  std::uint32_t first = 0;  // Where the first one stands in the observed list.
};

// The desired rules, each once, in canonical form and in order.
class Wanted {
 public:
  Wanted(const state::NetState& desired, const Ownership& ownership, std::vector<Refusal>& refused) {
    wishes_.reserve(desired.rules.size());
    for (const Rule& given : desired.rules) {
      const Rule* rule = state::is_canonical(given) ? &given : &rewritten_.emplace_back(state::canonical(given));
      if (auto status = check(*rule, ownership); !status) {
        refused.push_back({.desired = *rule, .reason = std::move(status).error()});
      } else {
        wishes_.push_back({.rule = rule});
      }
    }
    if (std::ranges::adjacent_find(wishes_, std::ranges::greater_equal(), by_rule) != wishes_.end()) {
      std::ranges::sort(wishes_, {}, by_rule);
      wishes_.erase(std::ranges::unique(wishes_, {}, by_rule).begin(), wishes_.end());
    }
    std::ranges::sort(refused, {}, &Refusal::desired);
  }

  // What an observed rule fulfils. Those mostly stand in the order in which we added them, which is this one: so the
  // one after the last is tried first, and a node where all is right costs one comparison for each rule.
  Wish* find(const Rule& rule) {
    if (next_ == wishes_.size() || *wishes_[next_].rule != rule) {
      const auto found = std::ranges::lower_bound(wishes_, rule, {}, by_rule);
      if (found == wishes_.end() || *found->rule != rule) return nullptr;
      next_ = static_cast<std::size_t>(found - wishes_.begin());
    }
    return &wishes_[next_++];
  }

  const std::vector<Wish>& wishes() const { return wishes_; }

 private:
  static const Rule& by_rule(const Wish& wish) { return *wish.rule; }

  std::deque<Rule> rewritten_;  // Those that were not in canonical form; the others are used in place.
  std::vector<Wish> wishes_;
  std::size_t next_ = 0;
};

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
    if (*group.shape != shape || is_never_alone(rule)) group.mixed = any_is_mixed_ = true;
  }
  // Without one, every request finds its own rule, and nobody has to join.
  bool any_is_mixed() const { return any_is_mixed_; }
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
  bool any_is_mixed_ = false;
  std::pair<const GroupKey, Group>* last_ = nullptr;  // Rules come in runs of one group.
};

// `missing` in order.
std::vector<AddRule> exclusive_or_bulk(const std::vector<const Rule*>& missing, bool verified, Groups& groups) {
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

std::vector<Clash> find_clashes(const Wanted& wanted, const std::vector<const Rule*>& foreign) {
  // What comes first in the order of rules, too.
  const auto place = [](const Rule& rule) { return std::tie(rule.family, rule.priority, rule.selector); };
  const auto place_of_wish = [&](const Wish& wish) { return place(*wish.rule); };
  std::vector<Clash> out;
  for (const Rule* other : foreign) {
    for (const Wish& wish : std::ranges::equal_range(wanted.wishes(), place(*other), {}, place_of_wish)) {
      out.push_back({.desired = *wish.rule, .foreign = *other});
    }
  }
  std::ranges::sort(out, {}, [](const Clash& clash) { return std::tie(clash.desired, clash.foreign); });
  return out;
}

// Of the observed rules, those that do not just stand where they are wanted.
struct Sorted {
  std::vector<const Rule*> foreign{};
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
    Wish* const wish = wanted.find(rule);
    if (wish == nullptr) {
      out.surplus.push_back({.rule = &rule, .position = i});
    } else if (wish->copies++ == 0) {
      wish->first = static_cast<std::uint32_t>(i);
    } else if (verified) {
      // A removal takes the first of the copies.
      out.surplus.push_back({.rule = &rule, .position = wish->first});
    }
  }
  return out;
}

// Only needed where something is to be done: on most passes nothing is.
Groups group(const state::NetState& observed, const Ownership& ownership, const std::vector<const Rule*>& missing,
             std::vector<Standing>& kept) {
  Groups out;
  const auto each = [&](auto visit) {
    for (const Rule& rule : observed.rules) {
      if (ownership.owns(rule)) visit(rule);
    }
    for (const Rule* rule : missing) visit(*rule);
  };
  each([&](const Rule& rule) { out.note(rule); });
  if (!out.any_is_mixed()) return out;
  each([&](const Rule& rule) { out.join(rule); });
  for (Standing& standing : kept) out.join_kept(standing);
  return out;
}

// Of each wanted rule that is there.
std::vector<Standing> first_copies(const Wanted& wanted, const state::NetState& observed) {
  std::vector<Standing> out;
  for (const Wish& wish : wanted.wishes()) {
    if (wish.copies > 0) out.push_back({.rule = &observed.rules[wish.first], .position = wish.first});
  }
  return out;
}

}  // namespace

RuleChanges diff_rules(const state::NetState& observed, bool verified, const state::NetState& desired,
                       const Ownership& ownership) {
  RuleChanges out;
  Wanted wanted(desired, ownership, out.refused);
  Sorted sorted = sort_observed(observed, verified, wanted, ownership);
  std::vector<const Rule*> missing;
  for (const Wish& wish : wanted.wishes()) {
    if (wish.copies == 0) missing.push_back(wish.rule);
  }
  if (!missing.empty() || !sorted.surplus.empty()) {
    std::vector<Standing> kept = first_copies(wanted, observed);
    Groups groups = group(observed, ownership, missing, kept);
    out.add = exclusive_or_bulk(missing, verified, groups);
    out.remove = order_removals(std::move(sorted.surplus), verified, groups);
  }
  for (const state::OpaqueRule& rule : observed.opaque_rules) {
    if (ownership.owns(rule)) out.remove.emplace_back(RemoveOpaqueRule{.rule = rule});
  }
  out.clashes = find_clashes(wanted, sorted.foreign);
  return out;
}

}  // namespace plan
