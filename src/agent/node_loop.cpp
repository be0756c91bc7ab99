#include "agent/node_loop.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "agent/change_log.h"
#include "agent/sooner.h"
#include "base/log.h"
#include "kernel/facts.h"
#include "kernel/probe.h"
#include "plan/mass_removal.h"
#include "plan/retain.h"
#include "runtime/memory.h"
#include "state/baseline.h"

namespace agent {
namespace {

using namespace std::chrono_literals;

// Our own table is followed by event; this is for what gave none.
constexpr auto kTableAudit = 5min;

// A removal that was not looked at twice is looked at again then.
constexpr auto kSecondLook = 1s;

// What of a node's state the facts are made from.
bool concerns_facts(kernel::Kinds changed) {
  using enum kernel::Kind;
  for (const auto kind : {route, link, address, nexthop, setting}) {
    if (changed.contains(kind)) return true;
  }
  return false;
}

// The tables that these rules ask, `main` aside.
template <typename Rules>
std::set<std::uint32_t> looked_up(Rules&& rules) {
  std::set<std::uint32_t> out;
  for (const state::Rule& rule : rules) {
    if (rule.table != state::kTableMain) out.insert(rule.table);
  }
  return out;
}

bool is_same_lookup(const state::Rule& one, const state::Rule& other) {
  return one.selector.from == other.selector.from && one.table == other.table;
}

std::size_t count_own(const state::NetState& observed, const plan::Ownership& ownership) {
  const auto ours = [&](const auto& rule) { return ownership.owns(rule); };
  return static_cast<std::size_t>(std::ranges::count_if(observed.rules, ours) +
                                  std::ranges::count_if(observed.opaque_rules, ours));
}

// How many addresses are steered there, in one way or another.
std::size_t size_of(const state::NetState& wanted) {
  return wanted.rules.size() + (wanted.nft ? wanted.nft->sources.size() + wanted.nft->vips.size() : 0);
}

// A pass that changes so much leaves behind memory worth giving back.
constexpr std::size_t kMuch = 500;

// Does not depend on the order of rules, which means nothing.
std::size_t fingerprint(const state::NetState& wanted) {
  std::size_t out = wanted.rules.size();
  for (const state::Rule& rule : wanted.rules) out += std::hash<state::Rule>()(rule);
  if (!wanted.nft) return out;
  for (const auto* elements : {&wanted.nft->sources, &wanted.nft->vips}) {
    for (const auto& [address, mark] : *elements) out += std::hash<net::Address>()(address) * 31 + mark;
  }
  for (const net::Prefix& prefix : wanted.nft->own) out += std::hash<net::Prefix>()(prefix);
  return out;
}

// What is missing has a back-off of its own.
bool only_refused_is_left(const Pass& pass) {
  if (!state::is_verified(pass.report.after)) return false;
  return std::ranges::all_of(pass.report.left.ops, [&](const plan::Op& op) {
    const auto* add = std::get_if<plan::AddRule>(&op);
    return add != nullptr && std::ranges::find(pass.refused, add->rule, &RefusedRule::rule) != pass.refused.end();
  });
}

std::string trouble_of(const Pass& pass) {
  if (!pass.refused.empty()) {
    const RefusedRule& first = pass.refused.front();
    return fmt::format("{} rules are refused; {}", pass.refused.size(), first.error.message());
  }
  if (pass.drifting) return Drift::advice();
  return pass.missing_baseline.empty() ? "" : baseline_advice(pass);
}

}  // namespace

std::string first_failure(const kernel::Engine::Report& report) {
  const auto& results = report.outcome.results;
  const auto failed = std::ranges::find(results, kernel::Effect::failed, &kernel::OpResult::effect);
  if (failed != results.end()) return failed->status.error().message();
  if (const auto* const doubt = std::get_if<state::Unverified>(&report.after)) {
    return "what the kernel holds could not be read for certain: " + doubt->reason;
  }
  return report.left.empty() ? "" : "not yet: " + plan::text(report.left.ops.front());
}

std::string baseline_advice(const Pass& pass) {
  return fmt::format(
      "no rule looks up what every host has: {}; whoever removed it should put it back, as `ip rule add lookup main "
      "priority 32766` does, for it is not ours to make",
      fmt::join(pass.missing_baseline, ", "));
}

NodeLoop::NodeLoop(Source source, runtime::Signal& changed, NodeLoopOptions options)
    : source_(std::move(source)),
      changed_(changed),
      options_(std::move(options)),
      audit_(options_.audit, static_cast<std::uint64_t>(::getpid())),
      backoff_(50ms, 30s, static_cast<std::uint64_t>(::getpid())),
      retries_(static_cast<std::uint64_t>(::getpid())),
      foreign_(options_.audit) {}

void NodeLoop::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    if (options_.heartbeat != nullptr) options_.heartbeat->beat();
    const auto wait = look(stop);
    if (std::exchange(leaves_much_, false)) runtime::release_memory();
    if (options_.heartbeat != nullptr) options_.heartbeat->rest();
    (void)changed_.wait(stop, std::chrono::steady_clock::now() + wait);  // Whatever ended the wait: look again.
    // Two programs that undo each other's work as fast as they can help nobody.
    const auto now = std::chrono::steady_clock::now();
    if (drift_.is_often(now)) (void)runtime::Signal().wait(stop, now + Drift::kPause);
  }
}

base::Status NodeLoop::open_kernel() {
  if (engine_ && monitor_) return {};
  engine_ = TRY(kernel::Engine::open(options_.ownership, kernel::Engine::Reach::steering));
  capabilities_ = kernel::probe(engine_->socket(), options_.ownership.protocols.front());
  base::log::info("what the kernel can", {{"capabilities", state::text(capabilities_)}});
  if (capabilities_.rule_protocol == false) {
    engine_.reset();
    return base::fail(base::Fault::kernel,
                      "this kernel does not keep the protocol of a rule, by which ours are told from others; "
                      "Linux 4.17 or newer does");
  }
  monitor_ = TRY(kernel::Monitor::start(engine_->port(), changed_));
  return {};
}

base::Status NodeLoop::read_facts(std::stop_token stop) {
  facts_ = TRY(kernel::read_facts(engine_->socket(), tables_, stop));
  facts_.capabilities = capabilities_;
  facts_read_ = std::chrono::steady_clock::now();
  return {};
}

// The facts are read again when something they are made from has changed, and by audit.
base::Status NodeLoop::look_at_node(std::stop_token stop) {
  const auto now = std::chrono::steady_clock::now();
  const bool changed = concerns_facts(monitor_->take());
  if (now - table_listed_ >= kTableAudit) {
    engine_->distrust();
    table_listed_ = now;
  }
  if (!changed && facts_read_ && now - *facts_read_ < audit_.least()) return {};
  return read_facts(stop);
}

base::Result<state::Observation> NodeLoop::observe(std::stop_token stop) {
  TRY(open_kernel());
  if (facts_read_) {
    TRY(look_at_node(stop));
    return engine_->observe(stop);
  }
  // The rules of an earlier life most likely ask the tables that will be wanted: with their facts at hand it need not
  // be worked out twice what is wanted.
  auto seen = TRY(engine_->observe(stop));
  const auto ours = [&](const state::Rule& rule) { return options_.ownership.owns(rule); };
  tables_ = looked_up(state::state_of(seen).rules | std::views::filter(ours));
  TRY(look_at_node(stop));
  return seen;
}

// What is wanted may name tables whose routes nobody has looked at yet: then once more, with their facts.
base::Result<std::optional<Wanted>> NodeLoop::ask(const state::Observation& seen, std::stop_token stop) {
  const auto once = [&] {
    return source_({.kernel = &state::state_of(seen),
                    .facts = facts_,
                    .verified = state::is_verified(seen),
                    .now = std::chrono::steady_clock::now()});
  };
  auto wanted = once();
  if (!wanted) return std::nullopt;
  auto tables = looked_up(wanted->state.rules);
  if (tables == tables_) return wanted;
  tables_ = std::move(tables);
  TRY(read_facts(stop));
  return once();
}

Looked NodeLoop::pass(std::stop_token stop) {
  const auto begun = std::chrono::steady_clock::now();
  auto seen = observe(stop);
  if (!seen) {
    (void)source_({.facts = facts_});  // It should know what is new all the same, for what we report.
    return std::unexpected(std::move(seen).error());
  }
  auto wanted = TRY(ask(*seen, stop));
  if (!wanted) return std::nullopt;
  Pass out{.wanted = *std::move(wanted), .facts = facts_};
  prepare(out, *seen);
  out.report = TRY(engine_->converge(*std::move(seen), out.wanted.state, stop));
  conclude(out, begun);
  out.took = std::chrono::steady_clock::now() - begun;
  return out;
}

// What of the wishes may be tried now, and what of the old project's is ours to remove.
void NodeLoop::prepare(Pass& pass, const state::Observation& seen) {
  Wanted& wanted = pass.wanted;
  const state::NetState& kernel = state::state_of(seen);
  const bool is_news = settled_ != fingerprint(wanted.state);
  if (wanted.whole && is_news && plan::is_mass_removal(kernel, wanted.state, options_.ownership)) {
    wanted.whole = options_.confirm();
    if (!wanted.whole) wanted.look_again = sooner(wanted.look_again, std::chrono::steady_clock::now() + kSecondLook);
  }
  if (!wanted.whole) wanted.state = plan::retain(std::move(wanted.state), kernel, options_.ownership);
  const auto held_back = retries_.hold_back(wanted.state, std::chrono::steady_clock::now());
  pass.held_back = held_back.size();

  // What stands before what is only certain in a verified view.
  const bool may_adopt = wanted.whole && state::is_verified(seen);
  auto adopted = may_adopt ? handed_over(wanted, kernel) : std::vector<state::Rule>();
  // While ours waits, the other one has to do.
  std::erase_if(adopted, [&](const state::Rule& old) {
    return std::ranges::any_of(held_back, [&](const state::Rule& ours) { return is_same_lookup(ours, old); });
  });
  engine_->adopt(std::move(adopted));
}

std::vector<state::Rule> NodeLoop::handed_over(const Wanted& wanted, const state::NetState& kernel) {
  std::vector<state::Rule> out = plan::adopted(wanted.heirlooms, kernel, options_.ownership);
  std::ranges::move(foreign_.due(wanted.foreign_rules, kernel, options_.ownership, std::chrono::steady_clock::now()),
                    std::back_inserter(out));
  std::ranges::sort(out);
  return out;
}

void NodeLoop::conclude(Pass& pass, base::TimePoint begun) {
  const auto now = std::chrono::steady_clock::now();
  retries_.note(pass.report, now);
  pass.refused = retries_.refused();
  look_again_ = sooner(sooner(pass.wanted.look_again, retries_.next_due()), foreign_.next_due());
  if (const auto& order = pass.wanted.foreign_rules) {
    pass.foreign = plan::foreign_rules(order->scope, state::state_of(pass.report.after), options_.ownership);
  }
  if (state::is_verified(pass.report.after)) {
    pass.missing_baseline = state::missing_baseline(state::state_of(pass.report.after));
  }
  pass.own_rules = count_own(state::state_of(pass.report.after), options_.ownership);
  const std::size_t wanted_now = fingerprint(pass.wanted.state);
  if (settled_ == wanted_now && pass.report.outcome.count(kernel::Effect::done) > 0) {
    pass.repairs = pass.report.outcome.count(kernel::Effect::done);
    Repairs repairs = note_repairs(pass, now);
    repairs.took = std::chrono::ceil<std::chrono::milliseconds>(now - begun);
    repairs_.note(repairs);
  }
  pass.drifting = drift_.is_often(now);
  pass.drift = repairs_.latest();
  pass.reported_drift = repairs_.told(now);
  if (!pass.report.settled()) return;
  settled_ = wanted_now;
  const std::size_t size = size_of(pass.wanted.state);
  leaves_much_ = std::max(size, settled_size_) - std::min(size, settled_size_) >= kMuch;
  if (leaves_much_) settled_size_ = size;
}

Repairs NodeLoop::note_repairs(const Pass& pass, base::TimePoint now) {
  Repairs out{.rules_wanted = pass.wanted.state.rules.size(),
              .at = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())};
  const kernel::Engine::Report& report = pass.report;
  for (std::size_t i = 0; i < report.outcome.results.size(); ++i) {
    if (report.outcome.results[i].effect != kernel::Effect::done) continue;
    const plan::Op& op = report.done.ops.at(i);
    const std::string text = plan::text(op);
    drift_.note_repair(text, now);
    out.add(op, text);
  }
  out.often = drift_.is_often(now);
  return out;
}

// The next audit, or earlier where something is due before.
std::chrono::milliseconds NodeLoop::until_audit() {
  const auto audit = audit_.next();
  if (!look_again_) return audit;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*look_again_ - std::chrono::steady_clock::now());
  return std::clamp(left, 1ms, std::max(audit, 1ms));
}

std::chrono::milliseconds NodeLoop::look(std::stop_token stop) {
  const Looked looked = pass(stop);
  options_.after(looked);
  if (!looked) {
    tell(looked.error().message());
    // What a socket still receives after a timeout is unknown: the next pass opens others.
    if (looked.error().fault() == base::Fault::timeout) monitor_.reset(), engine_.reset(), facts_read_.reset();
    return backoff_.next();
  }
  if (!*looked) return audit_.next();

  const Pass& done = **looked;
  log_changes(done.report, done.took);
  if (done.report.settled() || only_refused_is_left(done)) {
    backoff_.reset();
    tell(trouble_of(done));
    return until_audit();
  }
  tell(first_failure(done.report));
  return backoff_.next();
}

// Once when it starts, once when it ends; not with every retry.
void NodeLoop::tell(std::string story) {
  if (story == told_) return;
  if (story.empty()) {
    base::log::info("the kernel is as wanted again");
  } else {
    base::log::warning("the kernel is not as wanted", {{"err", story}});
  }
  told_ = std::move(story);
}

}  // namespace agent
