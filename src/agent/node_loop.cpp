#include "agent/node_loop.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "agent/change_log.h"
#include "base/log.h"
#include "kernel/facts.h"
#include "plan/retain.h"

namespace agent {
namespace {

using namespace std::chrono_literals;

// Our own table is followed by event; this is for what gave none.
constexpr auto kTableAudit = 5min;

// What of a node's state the facts are made from.
bool concerns_facts(kernel::Kinds changed) {
  using enum kernel::Kind;
  for (const auto kind : {route, link, address, nexthop, setting}) {
    if (changed.contains(kind)) return true;
  }
  return false;
}

std::set<std::uint32_t> looked_up(const state::NetState& wanted) {
  std::set<std::uint32_t> out;
  for (const state::Rule& rule : wanted.rules) {
    if (rule.table != state::kTableMain) out.insert(rule.table);
  }
  return out;
}

std::size_t count_own(const state::NetState& observed, const plan::Ownership& ownership) {
  const auto ours = [&](const auto& rule) { return ownership.owns(rule); };
  return static_cast<std::size_t>(std::ranges::count_if(observed.rules, ours) +
                                  std::ranges::count_if(observed.opaque_rules, ours));
}

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

std::string first_failure(const kernel::Engine::Report& report) {
  for (std::size_t i = 0; i < report.outcome.results.size(); ++i) {
    const kernel::OpResult& result = report.outcome.results[i];
    if (result.effect != kernel::Effect::failed) continue;
    return fmt::format("{}: {}", plan::text(report.done.ops.at(i)), result.status.error().message());
  }
  if (!report.left.empty()) return fmt::format("not yet: {}", plan::text(report.left.ops.front()));
  return "the kernel kept changing while it was read";
}

}  // namespace

NodeLoop::NodeLoop(Source source, runtime::Signal& changed, NodeLoopOptions options)
    : source_(std::move(source)),
      changed_(changed),
      options_(std::move(options)),
      backoff_(50ms, 30s, static_cast<std::uint64_t>(::getpid())) {}

void NodeLoop::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    if (options_.heartbeat != nullptr) options_.heartbeat->beat();
    const auto wait = look(stop);
    if (options_.heartbeat != nullptr) options_.heartbeat->rest();
    (void)changed_.wait(stop, std::chrono::steady_clock::now() + wait);  // Whatever ended the wait: look again.
  }
}

base::Status NodeLoop::open_kernel() {
  if (engine_ && monitor_) return {};
  engine_ = TRY(kernel::Engine::open(options_.ownership, kernel::Engine::Reach::steering));
  monitor_ = TRY(kernel::Monitor::start(engine_->port(), changed_));
  return {};
}

base::Status NodeLoop::read_facts(std::stop_token stop) {
  facts_ = TRY(kernel::read_facts(engine_->socket(), tables_, stop));
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
  if (!changed && facts_read_ && now - *facts_read_ < options_.audit) return {};
  return read_facts(stop);
}

base::Result<state::Observation> NodeLoop::observe(std::stop_token stop) {
  TRY(open_kernel());
  TRY(look_at_node(stop));
  return engine_->observe(stop);
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
  auto tables = looked_up(wanted->state);
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
  look_again_ = wanted->look_again;
  Pass out{.wanted = *std::move(wanted), .facts = facts_};
  if (!out.wanted.whole) {
    out.wanted.state = plan::retain(std::move(out.wanted.state), state::state_of(*seen), options_.ownership);
  }
  out.report = TRY(engine_->converge(*std::move(seen), out.wanted.state, stop));
  out.own_rules = count_own(state::state_of(out.report.after), options_.ownership);
  const std::size_t wanted_now = fingerprint(out.wanted.state);
  if (settled_ == wanted_now) out.repairs = out.report.outcome.count(kernel::Effect::done);
  if (out.report.settled()) settled_ = wanted_now;
  out.took = std::chrono::steady_clock::now() - begun;
  return out;
}

// The next audit, or earlier where something is due before.
std::chrono::milliseconds NodeLoop::until_audit() const {
  if (!look_again_) return options_.audit;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*look_again_ - std::chrono::steady_clock::now());
  return std::clamp(left, 1ms, options_.audit);
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
  if (!*looked) return options_.audit;

  const kernel::Engine::Report& report = (*looked)->report;
  log_changes(report);
  if (report.settled()) {
    backoff_.reset();
    tell("");
    return until_audit();
  }
  tell(first_failure(report));
  return backoff_.next();
}

// Once when it starts, once when it ends; not with every retry.
void NodeLoop::tell(std::string story) {
  if (story == told_) return;
  if (story.empty()) {
    base::log::info("the kernel is as wanted again");
  } else {
    base::log::warning("the kernel is not as wanted", {{"reason", story}});
  }
  told_ = std::move(story);
}

}  // namespace agent
