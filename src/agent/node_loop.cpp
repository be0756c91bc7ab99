#include "agent/node_loop.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

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
    const auto wait = look(stop);
    (void)changed_.wait(stop, std::chrono::steady_clock::now() + wait);  // Whatever ended the wait: look again.
  }
}

base::Status NodeLoop::open_kernel() {
  if (engine_ && monitor_) return {};
  engine_ = TRY(kernel::Engine::open(options_.ownership));
  monitor_ = TRY(kernel::Monitor::start(engine_->port(), changed_));
  return {};
}

base::Result<std::optional<NodeLoop::Report>> NodeLoop::pass(std::stop_token stop) {
  TRY(open_kernel());
  auto wanted = source_();
  if (!wanted) return std::nullopt;
  if (!wanted->whole) {
    const auto seen = TRY(engine_->observe(stop));
    wanted->state = keeping_own(std::move(wanted->state), state::state_of(seen), options_.ownership);
  }
  return TRY(engine_->converge(wanted->state, stop));
}

std::chrono::milliseconds NodeLoop::look(std::stop_token stop) {
  const auto report = pass(stop);
  if (!report) {
    tell(report.error().message());
    // What a socket still receives after a timeout is unknown: the next pass opens others.
    if (report.error().fault() == base::Fault::timeout) monitor_.reset(), engine_.reset();
    return backoff_.next();
  }
  if (!*report) return options_.audit;

  for (const plan::Op& op : (*report)->done.ops) base::log::info(plan::text(op));
  if ((*report)->settled()) {
    backoff_.reset();
    tell("");
    return options_.audit;
  }
  tell(first_failure(**report));
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
