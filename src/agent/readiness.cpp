#include "agent/readiness.h"

#include <utility>

#include <fmt/format.h>

namespace agent {
namespace {

std::string describe(const base::Error& error) {
  return fmt::format("{}: {}", error.fault() == base::Fault::denied ? "NotPermitted" : "KernelRefused",
                     error.message());
}

}  // namespace

std::optional<std::string> kernel_trouble(const Looked& looked) {
  if (!looked) return describe(looked.error());
  if (!*looked) return std::nullopt;
  if (!(*looked)->refused.empty()) return describe((*looked)->refused.front().error);
  for (const kernel::OpResult& result : (*looked)->report.outcome.results) {
    if (result.effect == kernel::Effect::failed) return describe(result.status.error());
  }
  return std::nullopt;
}

void Readiness::add_to(runtime::Health& health) {
  health.add("sync", [this] {
    return state_.read([](const State& state) -> std::optional<std::string> {
      if (state.synced) return std::nullopt;
      return "NotSynced: the kernel was not yet seen as published";
    });
  });
  health.add("node", [this] { return state_.read([](const State& state) { return state.node; }); });
  health.add("rules", [this] { return state_.read([](const State& state) { return state.rules; }); });
  // What is published may be other than what is known; the rules that are known stand all the same.
  health.add_remark("watch", [this] { return state_.read([](const State& state) { return state.watch; }); });
}

void Readiness::note(const Looked& looked, std::optional<std::string> node, std::optional<std::string> watch) {
  state_.change([&](State& state) {
    state.node = std::move(node);
    state.watch = std::move(watch);
    state.rules = kernel_trouble(looked);
    if (looked && *looked && (*looked)->report.settled()) state.synced = true;
  });
}

}  // namespace agent
