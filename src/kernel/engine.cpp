#include "kernel/engine.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_set>

#include "kernel/nft/lookup.h"
#include "plan/marking.h"

namespace kernel {
namespace {

// Mostly there is one round, and nothing to append to.
template <typename Item>
void append(std::vector<Item>& all, std::vector<Item> more) {
  if (all.empty()) {
    all = std::move(more);
  } else {
    std::ranges::move(more, std::back_inserter(all));
  }
}

// The lookups that are wanted and not there yet.
class Awaited {
 public:
  Awaited(const state::NetState& seen, const state::NetState& desired) : seen_(seen.nft), desired_(desired.nft) {
    const std::unordered_set<state::Rule> there(seen.rules.begin(), seen.rules.end());
    for (const state::Rule& rule : desired.rules) {
      if (rule.selector.from && !there.contains(rule)) rules_.emplace(*rule.selector.from, rule.table);
    }
  }

  // Whether one of them is what this rule does, by a rule or by a mark.
  bool contains(const state::Rule& rule) const {
    if (!rule.selector.from) return false;
    if (rules_.contains({*rule.selector.from, rule.table})) return true;
    const net::Address source = rule.selector.from->address();
    if (!desired_ || !desired_->sources.contains(source)) return false;
    return !seen_ || !seen_->sources.contains(source);
  }

 private:
  std::set<std::pair<net::Prefix, std::uint32_t>> rules_;
  const std::optional<state::NftTable>& seen_;
  const std::optional<state::NftTable>& desired_;
};

}  // namespace

base::Result<Engine> Engine::open(plan::Ownership ownership, Reach reach) {
  return Engine(TRY(Socket::open(Bus::route)), std::move(ownership), reach);
}

base::Result<state::Observation> Engine::observe(std::stop_token stop, const state::NetState& desired) {
  constexpr std::size_t kGrowth = 64;  // A few more than last time are no reason to copy all of them.
  ObserveOptions options{
      .expected_rules = rules_seen_ + kGrowth, .routing = reach_ == Reach::all, .protocols = ownership_.protocols};
  for (const state::Route& route : desired.routes) options.tables.push_back(route.table);
  std::ranges::sort(options.tables);
  options.tables.erase(std::ranges::unique(options.tables).begin(), options.tables.end());
  auto seen = TRY(kernel::observe(socket_, stop, options));
  rules_seen_ = state::state_of(seen).rules.size();
  if (reach_ == Reach::rules) return seen;
  return with_table(std::move(seen));
}

base::Result<state::ObservedNft> Engine::observe_table() {
  if (!table_) table_ = TRY(nft::OwnTable::open());
  return table_->observe();
}

// What could not be read makes the whole unverified: nobody may conclude from it that all is as wanted.
state::Observation Engine::with_table(state::Observation seen) {
  auto& state = std::visit([](auto& some) -> state::NetState& { return some.state; }, seen);
  auto table = observe_table();
  if (table) {
    state.nft = std::move(table->table);
    state.nft_strange = std::move(table->strange);
    return seen;
  }
  if (nft::is_missing(table.error())) return seen;  // Without nftables there is no table of ours.
  state.nft_unknown = table.error().message();
  return state::Unverified{.state = std::move(state), .reason = "nft: " + table.error().message()};
}

base::Status Engine::change_table(const state::NftChange& change, std::span<const plan::Op> before,
                                  const Outcome& outcome) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool is_missing = outcome.results[i].effect == Effect::failed || outcome.results[i].effect == Effect::pending;
    if (is_missing && plan::is_needed_before(before[i], change)) {
      return base::fail(base::Fault::unavailable, "the nft table waits for " + plan::text(before[i]));
    }
  }
  if (!table_) table_ = TRY(nft::OwnTable::open());
  return table_->apply(change);
}

// The kernel may refuse ours and take the removal that was sent with it.
plan::Plan Engine::diff(const state::Observation& seen, const state::NetState& desired) const {
  if (ownership_.adopted.empty()) return plan::diff(seen, desired, ownership_);
  const Awaited awaited(state::state_of(seen), desired);
  plan::Ownership ownership = ownership_;
  std::erase_if(ownership.adopted, [&](const state::Rule& rule) { return awaited.contains(rule); });
  plan::Plan todo = plan::diff(seen, desired, ownership);
  std::erase_if(todo.clashes, [&](const plan::Clash& clash) { return ownership_.owns(clash.foreign); });
  return todo;
}

Outcome Engine::apply(const plan::Plan& todo, std::stop_token stop) {
  const auto is_change = [](const plan::Op& op) { return std::holds_alternative<plan::ChangeNft>(op); };
  const std::span<const plan::Op> ops = todo.ops;
  const auto before = ops.first(static_cast<std::size_t>(std::ranges::find_if(ops, is_change) - ops.begin()));
  plan::Undone undone;
  Outcome out = kernel::apply(socket_, before, ownership_, undone, stop);
  if (before.size() == ops.size()) return out;

  const state::NftChange& change = *std::get<plan::ChangeNft>(ops[before.size()]).change;
  auto changed = stop.stop_requested() ? base::fail(base::Fault::cancelled, "stopped before the nft table changed")
                                       : change_table(change, before, out);
  const bool is_changed = changed.has_value();
  out.results.push_back({.effect = is_changed ? Effect::done : Effect::failed, .status = std::move(changed)});

  const auto after = ops.subspan(before.size() + 1);
  std::vector<plan::Op> free;  // Those that need not wait.
  std::vector<std::size_t> places;
  for (const plan::Op& op : after) {
    const bool waits = !is_changed && plan::must_wait_for(op, change);
    out.results.push_back(waits ? waiting(op, "the nft table") : OpResult());
    if (waits) {
      undone.note(op);
      continue;
    }
    places.push_back(out.results.size() - 1);
    free.push_back(op);
  }
  Outcome rest = kernel::apply(socket_, is_changed ? after : std::span<const plan::Op>(free), ownership_, undone, stop);
  for (std::size_t i = 0; i < places.size(); ++i) out.results[places[i]] = std::move(rest.results[i]);
  return out;
}

base::Result<Engine::Report> Engine::converge(const state::NetState& desired, std::stop_token stop, int rounds) {
  return converge(TRY(observe(stop, desired)), desired, stop, rounds);
}

base::Result<Engine::Report> Engine::converge(state::Observation before, const state::NetState& desired,
                                              std::stop_token stop, int rounds) {
  Report report{.after = std::move(before)};
  report.left = diff(report.after, desired);
  for (int round = 0; round < rounds && !report.left.empty(); ++round) {
    Outcome outcome = apply(report.left, stop);
    const bool stuck = outcome.count(Effect::failed) + outcome.count(Effect::pending) == report.left.ops.size();
    append(report.done.ops, std::move(report.left.ops));
    append(report.outcome.results, std::move(outcome.results));
    report.after = TRY(observe(stop, desired));
    report.left = diff(report.after, desired);
    if (stuck) break;  // Every operation was refused: the caller backs off.
  }
  TRY(withdraw(report, desired, stop));
  return report;
}

// A link that went down took routes along without asking for the rules over them. Where they cannot be made again the
// rules go, too, until they can. This is concluded only from a verified view that was read after the attempt.
base::Status Engine::withdraw(Report& report, const state::NetState& desired, std::stop_token stop) {
  const auto* const seen = std::get_if<state::Verified>(&report.after);
  if (seen == nullptr || report.left.empty() || stop.stop_requested()) return {};
  const auto lacking = plan::lacking_tables(*seen, desired, ownership_);
  if (lacking.empty()) return {};
  plan::Plan todo = plan::diff(report.after, plan::without_rules_over(lacking, desired), ownership_);
  const auto is_over = [&](const plan::Op& op) {
    const auto* const removed = std::get_if<plan::RemoveRule>(&op);
    const auto ground = removed != nullptr ? plan::ground_of(removed->rule) : std::nullopt;
    return ground && lacking.contains(*ground);
  };
  if (std::ranges::none_of(todo.ops, is_over)) return {};
  // Another rule may have to be placed anew, because the removal would take it by mistake.
  std::erase_if(todo.ops,
                [&](const plan::Op& op) { return !is_over(op) && !std::holds_alternative<plan::AddRule>(op); });
  Outcome outcome = apply(todo, stop);
  append(report.done.ops, std::move(todo.ops));
  append(report.outcome.results, std::move(outcome.results));
  report.after = TRY(observe(stop, desired));
  report.left = diff(report.after, desired);
  return {};
}

}  // namespace kernel
