#include "agent/node_loop.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "agent/change_log.h"
#include "base/log.h"

namespace agent {
namespace {

using namespace std::chrono_literals;

// Our rules that stand in the kernel are wanted too, for want of better knowledge.
state::NetState keeping_own(state::NetState wanted, const state::NetState& observed, const plan::Ownership& ownership) {
  for (const state::Rule& rule : observed.rules) {
    if (ownership.owns(rule) && std::ranges::find(wanted.rules, rule) == wanted.rules.end()) {
      wanted.rules.push_back(rule);
    }
  }
  return wanted;
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
  engine_ = TRY(kernel::Engine::open(options_.ownership));
  monitor_ = TRY(kernel::Monitor::start(engine_->port(), changed_));
  return {};
}

Looked NodeLoop::pass(std::stop_token stop) {
  const auto begun = std::chrono::steady_clock::now();
  auto wanted = source_();
  if (!wanted) return std::nullopt;
  TRY(open_kernel());
  Pass out{.wanted = *std::move(wanted)};
  look_again_ = out.wanted.look_again;
  if (!out.wanted.whole) {
    const auto seen = TRY(engine_->observe(stop));
    out.wanted.state = keeping_own(std::move(out.wanted.state), state::state_of(seen), options_.ownership);
  }
  out.report = TRY(engine_->converge(out.wanted.state, stop));
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
    if (looked.error().fault() == base::Fault::timeout) monitor_.reset(), engine_.reset();
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
