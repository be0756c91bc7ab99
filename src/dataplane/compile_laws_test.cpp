#include <algorithm>
#include <ranges>
#include <tuple>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "dataplane/arbitrary_steering.h"
#include "dataplane/compile.h"
#include "dataplane/packet_model.h"
#include "state/nft_change.h"

namespace dataplane {
namespace {

using model::Node;

Compiled compile_as(Steering steering, Mode mode) {
  steering.mode = mode;
  return compile(steering);
}

Node node_of(const Compiled& compiled) {
  return {.rules = compiled.rules, .table = compiled.table};
}

Marks marks_of(const Compiled& compiled, const Steering& steering) {
  return read_back(compiled.rules, compiled.table, steering.numbers.window, steering.numbers.protocol);
}

Steering steering_as(Mode mode) {
  Steering out = arbitrary::steering();
  out.mode = mode;
  return out;
}

Mode either() {
  return *rc::gen::element(Mode::rules, Mode::marks);
}

// By an agent that has just started: it knows only what it finds in the kernel.
Compiled compile_anew(Steering steering, const Compiled& found) {
  steering.marks = marks_of(found, steering);
  return compile(steering);
}

std::map<net::Address, std::uint32_t> vips_of(const Compiled& compiled) {
  return compiled.table ? compiled.table->vips : std::map<net::Address, std::uint32_t>();
}

template <typename T>
std::vector<T> shuffled(std::vector<T> items) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[*rc::gen::inRange<std::size_t>(0, i)]);
  return items;
}

// Plays the change from one node to the other as it is promised: new rules in walk order, the table's change, old rules
// against walk order. `look` sees the node after every step.
template <typename Look>
void play(Node node, const Node& to, Look look) {
  std::vector<state::Rule> gone;
  for (const auto& rule : node.rules) {
    if (std::ranges::find(to.rules, rule) == to.rules.end()) gone.push_back(rule);
  }
  const auto place = [](const state::Rule& rule) { return std::tuple(rule.family, rule.priority, rule.selector.from); };
  for (const auto& rule : to.rules) {
    if (std::ranges::find(node.rules, rule) != node.rules.end()) continue;
    node.rules.insert(std::ranges::upper_bound(node.rules, place(rule), {}, place), rule);
    look(node);
  }
  const auto change = state::diff({.table = node.table}, to.table);
  for (const auto& piece : state::split(change, 1)) {
    state::apply(piece, node.table);
    if (node.table) RC_ASSERT(state::validate(*node.table).has_value());
    look(node);
  }
  RC_ASSERT(node.table == to.table);
  for (const auto& rule : gone | std::views::reverse) {
    node.rules.erase(std::ranges::find(node.rules, rule));
    look(node);
  }
  RC_ASSERT(std::ranges::is_permutation(node.rules, to.rules));
}

// S7: whatever has the same answer before and after has it all the time.
void keeps_common_lookups(const Steering& steering, const Node& from, const Node& to) {
  std::vector<Node> steps;
  play(from, to, [&](const Node& node) { steps.push_back(node); });
  arbitrary::each_packet(steering, [&](const model::Packet& packet, const model::Routes& routes) {
    const auto before = lookup(packet, routes, from);
    if (before != lookup(packet, routes, to)) return;
    for (const Node& step : steps) RC_ASSERT(lookup(packet, routes, step) == before);
  });
}

RC_GTEST_PROP(CompileLaws, rules_and_marks_give_equal_lookups, ()) {
  const Steering steering = arbitrary::steering();
  const Node by_rules = node_of(compile_as(steering, Mode::rules));
  const Node by_marks = node_of(compile_as(steering, Mode::marks));
  arbitrary::each_packet(steering, [&](const model::Packet& packet, const model::Routes& routes) {
    RC_ASSERT(lookup(packet, routes, by_rules) == lookup(packet, routes, by_marks));
  });
}

RC_GTEST_PROP(CompileLaws, switch_of_back_ends_keeps_every_lookup_at_every_step, ()) {
  const Steering steering = arbitrary::steering();
  const Node by_rules = node_of(compile_as(steering, Mode::rules));
  const Node by_marks = node_of(compile_as(steering, Mode::marks));
  keeps_common_lookups(steering, by_rules, by_marks);
  keeps_common_lookups(steering, by_marks, by_rules);
}

RC_GTEST_PROP(CompileLaws, change_of_sources_keeps_common_lookups_at_every_step, ()) {
  Steering steering = steering_as(either());
  const Compiled before = compile(steering);
  steering.sources = arbitrary::some_sources();
  steering.mode = either();
  const Compiled after = compile_anew(steering, before);
  RC_PRE(vips_of(before) == vips_of(after));  // Else a reply too found a mark, or found none.
  keeps_common_lookups(steering, node_of(before), node_of(after));
}

RC_GTEST_PROP(CompileLaws, change_of_replies_keeps_common_lookups_at_every_step, ()) {
  Steering steering = steering_as(either());
  const Compiled before = compile(steering);
  steering.replies = arbitrary::some_replies();
  const Compiled after = compile_anew(steering, before);
  RC_PRE(before.by_marks == after.by_marks);  // Else sources change their back end too, to make room.
  keeps_common_lookups(steering, node_of(before), node_of(after));
}

RC_GTEST_PROP(CompileLaws, order_of_input_does_not_matter, ()) {
  Steering steering = steering_as(either());
  const Compiled expected = compile(steering);
  steering.sources = shuffled(steering.sources);
  steering.replies = shuffled(steering.replies);
  RC_ASSERT(compile(steering) == expected);
}

RC_GTEST_PROP(CompileLaws, after_a_restart_there_is_nothing_to_write, ()) {
  const Steering steering = steering_as(Mode::marks);
  const Compiled first = compile(steering);
  const Compiled again = compile_anew(steering, first);
  RC_ASSERT(again.rules == first.rules);
  RC_ASSERT(again.table == first.table);
}

RC_GTEST_PROP(CompileLaws, rules_removed_while_nobody_remembered_come_back_under_their_marks, ()) {
  const Steering steering = steering_as(Mode::marks);
  const Compiled first = compile(steering);
  Compiled left = first;
  std::erase_if(left.rules, [](const state::Rule& rule) { return rule.selector.mark && *rc::gen::arbitrary<bool>(); });
  const Compiled again = compile_anew(steering, left);
  RC_ASSERT(again.rules == first.rules);
  RC_ASSERT(again.table == first.table);
}

// A class with more lookups than before keeps the mark of all its members, where that is not remembered as another's.
RC_GTEST_PROP(CompileLaws, unremembered_mark_passes_on_only_with_all_who_bear_it, ()) {
  Steering steering = steering_as(Mode::marks);
  const Compiled before = compile(steering);
  steering.sources = arbitrary::some_sources();
  steering.replies = arbitrary::some_replies();
  steering.marks = marks_of(before, steering);
  const Compiled after = compile(steering);
  for (const auto& [key, mark] : after.held) {
    if (key.kind == state::NftClassKind::both || !steering.marks.unremembered.contains(mark)) continue;
    if (const auto old = before.held.find(key); old != before.held.end() && old->second == mark) continue;
    const auto& elements = key.kind == state::NftClassKind::source ? after.table->sources : after.table->vips;
    for (const net::Address& member : steering.marks.unremembered.at(mark).members) {
      RC_ASSERT(elements.contains(member) && elements.at(member) == mark);
    }
  }
}

RC_GTEST_PROP(CompileLaws, mark_stays_with_its_class_and_never_passes_to_another_at_once, ()) {
  Steering steering = steering_as(Mode::marks);
  const Compiled before = compile(steering);
  steering.sources = arbitrary::some_sources();
  steering.replies = arbitrary::some_replies();
  steering.marks = marks_of(before, steering);
  steering.marks.unremembered.clear();  // As in an agent that lives on.
  for (const auto& [key, mark] : compile(steering).held) {
    for (const auto& [old_key, old_mark] : before.held) RC_ASSERT((key == old_key) == (mark == old_mark));
  }
}

RC_GTEST_PROP(CompileLaws, table_is_always_one_the_kernel_takes, ()) {
  Steering steering = steering_as(either());
  const Compiled compiled = compile(steering);
  for (const auto& rule : compiled.rules) RC_ASSERT(state::validate(rule).has_value());
  if (compiled.table) RC_ASSERT(state::validate(*compiled.table).has_value());
}

}  // namespace
}  // namespace dataplane
