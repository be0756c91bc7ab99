#include "plan/diff.h"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "plan/kernel_model.h"
#include "plan/rules.h"

namespace plan {
namespace {

using net::Family;
using state::NetState;
using state::Rule;
using state::Unverified;
using state::Verified;

Rule rule(std::string_view text) {
  return state::parse_rule(text.find("::") == text.npos ? Family::v4 : Family::v6, text).value();
}

NetState rules(std::initializer_list<const char*> lines) {
  NetState out;
  for (const auto* line : lines) out.rules.push_back(rule(line));
  return out;
}

std::string planned(const NetState& observed, const NetState& desired) {
  return text(diff(Verified{observed}, desired, {}));
}

TEST(Diff, new_rules_come_before_old_ones_go) {
  EXPECT_EQ(planned(rules({"20: from 10.0.0.7 lookup 1 proto 183"}),
                    rules({"30: from 10.0.0.7 lookup 2 proto 183", "10: from 10.0.0.7 lookup 1 proto 183"})),
            "add IPv4 rule 10: from 10.0.0.7 lookup 1 proto 183\n"
            "add IPv4 rule 30: from 10.0.0.7 lookup 2 proto 183\n"
            "remove IPv4 rule 20: from 10.0.0.7 lookup 1 proto 183\n");
}

TEST(Diff, foreign_twin_is_reported_and_left) {
  EXPECT_EQ(planned(rules({"0: from all lookup local proto kernel", "10: from 10.0.0.7 lookup 1 proto static"}),
                    rules({"10: from 10.0.0.7 lookup 2 proto 183"})),
            "add IPv4 rule 10: from 10.0.0.7 lookup 2 proto 183\n"
            "clash IPv4 rule 10: from 10.0.0.7 lookup 2 proto 183\n"
            "  with foreign 10: from 10.0.0.7 lookup 1 proto static\n");
}

TEST(Diff, what_cannot_be_is_refused_and_delays_nobody) {
  EXPECT_EQ(planned({}, rules({"10: from 10.0.0.7 lookup 0 proto 183", "10: from 10.0.0.8 lookup 2 proto static",
                               "10: from 10.0.0.9 lookup 2 proto 183"})),
            "add IPv4 rule 10: from 10.0.0.9 lookup 2 proto 183\n"
            "refused IPv4 rule 10: from 10.0.0.7 proto 183\n"
            "  table: 0 lets the kernel choose one\n"
            "refused IPv4 rule 10: from 10.0.0.8 lookup 2 proto static\n"
            "  protocol: 4 is not ours\n");
}

TEST(Diff, opaque_rule_is_removed_only_if_ours) {
  NetState observed;
  observed.opaque_rules.push_back({.priority = 5, .table = 7, .protocol = 183, .reason = "attribute 200"});
  observed.opaque_rules.push_back({.priority = 6, .table = 7, .protocol = 4, .reason = "attribute 200"});
  EXPECT_EQ(planned(observed, {}), "remove IPv4 rule 5: (attribute 200) lookup 7 proto 183\n");
}

TEST(Diff, removal_that_would_take_a_wanted_rule_moves_that_first) {
  const auto observed =
      rules({"10: from 10.0.0.7 fwmark 0x1 lookup 1 proto 183", "10: from 10.0.0.7 lookup 1 proto 183"});
  const auto desired = rules({"10: from 10.0.0.7 fwmark 0x1 lookup 1 proto 183"});
  EXPECT_EQ(planned(observed, desired),
            "add IPv4 rule 10: from 10.0.0.7 fwmark 0x1 lookup 1 proto 183\n"
            "remove IPv4 rule 10: from 10.0.0.7 fwmark 0x1 lookup 1 proto 183\n"
            "remove IPv4 rule 10: from 10.0.0.7 lookup 1 proto 183\n");
  EXPECT_EQ(text(diff(Unverified{observed, "raced"}, desired, {})), "");
}

TEST(Diff, wide_rule_beside_narrow_ones_is_added_without_the_check_that_would_refuse_it) {
  const auto observed = rules({"10: from 10.0.0.7 lookup 1 proto 183"});
  auto desired = observed;
  desired.rules.push_back(rule("10: from all lookup 1 proto 183"));
  const auto plan = diff(Verified{observed}, desired, {});
  ASSERT_EQ(plan.ops.size(), 1);
  EXPECT_FALSE(std::get<AddRule>(plan.ops[0]).exclusive);
}

TEST(Diff, only_a_bulk_of_one_priority_goes_without_the_check_for_copies) {
  NetState desired;
  for (int i = 0; i < 2 * static_cast<int>(kMostExclusiveAdds); ++i) {
    Rule one = rule("10: from all lookup 1 proto 183");
    one.selector.from = net::Prefix::parse("10.0.0." + std::to_string(i) + "/32").value();
    if (i < static_cast<int>(kMostExclusiveAdds)) one.priority = 9;
    desired.rules.push_back(one);
  }
  desired.rules.push_back(rule("10: from 10.1.0.0 lookup 1 proto 183"));
  const auto exclusive = [&](const state::Observation& observed) {
    const auto plan = diff(observed, desired, {});
    return std::ranges::count_if(plan.ops, [](const Op& op) { return std::get<AddRule>(op).exclusive; });
  };
  EXPECT_EQ(exclusive(Verified{}), kMostExclusiveAdds);
  EXPECT_EQ(exclusive(Unverified{}), 2 * kMostExclusiveAdds + 1);
}

TEST(Diff, only_a_verified_view_shows_copies) {
  const auto wanted = rules({"10: from 10.0.0.7 lookup 1 proto 183"});
  auto twice = wanted;
  twice.rules.push_back(wanted.rules[0]);
  EXPECT_EQ(diff(Verified{twice}, wanted, {}).ops, std::vector<Op>{RemoveRule{wanted.rules[0]}});
  EXPECT_TRUE(diff(Unverified{twice, "raced"}, wanted, {}).empty());
}

// Small worlds: few priorities, sources, marks and tables, so that rules are close to each other.
Rule any_rule(bool own) {
  using rc::gen::element;
  Rule out{.priority = *element(10U, 20U, 30U), .protocol = own ? std::uint8_t{183} : *element<std::uint8_t>(2, 4)};
  const auto* const from = *element("", "10.0.0.1/32", "10.0.0.2/32", "10.0.0.0/24");
  if (*from != '\0') out.selector.from = net::Prefix::parse(from).value();
  if (*element(0, 0, 1) == 1) out.selector.mark = state::Mark{.value = *element(0U, 1U, 2U), .mask = 3};
  if (*element(0, 0, 0, 1) == 1) out.selector.to = net::Prefix::parse("192.0.2.0/24").value();
  out.selector.invert = *element(0, 0, 0, 1) == 1;
  out.action = *element(state::RuleAction::lookup, state::RuleAction::lookup, state::RuleAction::blackhole);
  if (out.action != state::RuleAction::lookup) return out;
  out.table = *element(1U, 2U);
  if (*element(0, 0, 0, 1) == 1) out.suppress_prefixlength = 0;
  return out;
}

NetState any_desired() {
  NetState out;
  const int count = *rc::gen::inRange(0, 8);
  for (int i = 0; i < count; ++i) out.rules.push_back(any_rule(true));
  return out;
}

KernelModel any_kernel() {
  KernelModel out;
  const int count = *rc::gen::inRange(0, 10);
  for (int i = 0; i < count; ++i) out.add(any_rule(*rc::gen::element(true, true, false)), false);
  return out;
}

std::multiset<Rule> own(const KernelModel& kernel) {
  std::multiset<Rule> out;
  for (const Rule& one : kernel.rules) {
    if (Ownership().owns(one)) out.insert(one);
  }
  return out;
}

std::vector<Rule> foreign(const KernelModel& kernel) {
  std::vector<Rule> out;
  for (const Rule& one : kernel.rules) {
    if (!Ownership().owns(one)) out.push_back(one);
  }
  return out;
}

std::multiset<Rule> once_each(const NetState& desired) {
  const std::set<Rule> unique(desired.rules.begin(), desired.rules.end());
  return {unique.begin(), unique.end()};
}

Verified view_of(const KernelModel& kernel) {
  return {NetState{.rules = kernel.rules}};
}

RC_GTEST_PROP(DiffLaw, the_plan_makes_the_kernel_equal_and_no_operation_fails, ()) {
  KernelModel kernel = any_kernel();
  const NetState desired = any_desired();
  const auto strangers = foreign(kernel);
  for (const Op& op : diff(view_of(kernel), desired, {}).ops) RC_ASSERT(kernel.apply(op));
  RC_ASSERT(own(kernel) == once_each(desired));
  RC_ASSERT(foreign(kernel) == strangers);
  RC_ASSERT(diff(view_of(kernel), desired, {}).empty());
}

RC_GTEST_PROP(DiffLaw, the_order_of_desired_rules_means_nothing, ()) {
  const KernelModel kernel = any_kernel();
  NetState desired = any_desired();
  const auto plan = diff(view_of(kernel), desired, {});
  std::ranges::reverse(desired.rules);
  const auto other = diff(view_of(kernel), desired, {});
  RC_ASSERT(plan.ops == other.ops);
  RC_ASSERT(plan.clashes == other.clashes);
}

RC_GTEST_PROP(DiffLaw, a_wrong_view_loses_nothing_wanted_and_copies_nothing, ()) {
  KernelModel kernel = any_kernel();
  const NetState desired = any_desired();
  NetState blurred;
  for (const Rule& one : kernel.rules) {
    for (int copies = *rc::gen::element(0, 1, 1, 2); copies > 0; --copies) blurred.rules.push_back(one);
  }
  const auto before = own(kernel);
  const auto strangers = foreign(kernel);
  for (const Op& op : diff(Unverified{blurred, "raced"}, desired, {}).ops) kernel.apply(op);
  const auto after = own(kernel);
  for (const Rule& wanted : once_each(desired)) {
    if (before.contains(wanted)) RC_ASSERT(after.contains(wanted));
    RC_ASSERT(after.count(wanted) <= std::max<std::size_t>(before.count(wanted), 1));
  }
  RC_ASSERT(foreign(kernel) == strangers);
  for (const Op& op : diff(view_of(kernel), desired, {}).ops) RC_ASSERT(kernel.apply(op));
  RC_ASSERT(own(kernel) == once_each(desired));
}

// A state as jobs make them (S6): own rules that overlap differ in priority.
NetState any_unambiguous(std::uint32_t lowest) {
  NetState out;
  for (Rule one : any_desired().rules) {
    one.priority += lowest;
    one.selector = {.from = one.selector.from};
    const bool overlaps = std::ranges::any_of(out.rules, [&](const Rule& other) {
      return other.priority == one.priority &&
             (!one.selector.from || !other.selector.from || one.selector.from->overlaps(*other.selector.from));
    });
    if (!overlaps) out.rules.push_back(one);
  }
  return out;
}

KernelModel::Tables any_tables() {
  KernelModel::Tables out;
  for (const std::uint32_t table : {1U, 2U, 254U}) {
    for (const auto* prefix : {"0.0.0.0/0", "192.0.2.0/24"}) {
      const auto* const answer = *rc::gen::element("", "", "eth0", "eth1");
      if (*answer != '\0') out[table].emplace(net::Prefix::parse(prefix).value(), answer);
    }
  }
  return out;
}

RC_GTEST_PROP(DiffLaw, every_step_keeps_the_lookups_on_which_both_ends_agree, ()) {
  const NetState before = any_unambiguous(0);
  const NetState after = any_unambiguous(*rc::gen::element(0U, 5U));
  const auto tables = any_tables();
  KernelModel kernel;
  for (const Rule& one : before.rules) kernel.add(one, false);
  kernel.add(rule("32766: from all lookup main proto kernel"), false);
  KernelModel goal;
  for (const Rule& one : after.rules) goal.add(one, false);
  goal.add(rule("32766: from all lookup main proto kernel"), false);

  const KernelModel start = kernel;
  for (const Op& op : diff(view_of(kernel), after, {}).ops) {
    RC_ASSERT(kernel.apply(op));
    for (const auto* source : {"10.0.0.1", "10.0.0.2", "10.0.0.3"}) {
      for (const auto* destination : {"192.0.2.1", "198.51.100.1"}) {
        const Packet packet{.source = net::Address::parse(source).value(),
                            .destination = net::Address::parse(destination).value()};
        const auto agreed = start.lookup(tables, packet);
        if (agreed == goal.lookup(tables, packet)) RC_ASSERT(kernel.lookup(tables, packet) == agreed);
      }
    }
  }
}

RC_GTEST_PROP(DiffLaw, a_plan_is_no_longer_than_what_differs, ()) {
  const NetState before = any_unambiguous(0);
  const NetState after = any_unambiguous(0);
  std::vector<Rule> differ;
  const auto one = once_each(before);
  const auto other = once_each(after);
  std::ranges::set_symmetric_difference(one, other, std::back_inserter(differ));
  RC_ASSERT(diff(Verified{before}, after, {}).ops.size() <= differ.size());
}

}  // namespace
}  // namespace plan
