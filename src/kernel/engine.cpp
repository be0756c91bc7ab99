#include "kernel/engine.h"

#include <iterator>

namespace kernel {

base::Result<Engine> Engine::open(plan::Ownership ownership) {
  return Engine(TRY(Socket::open(Bus::route)), std::move(ownership));
}

base::Result<Engine::Report> Engine::converge(const state::NetState& desired, std::stop_token stop, int rounds) {
  Report report{.after = TRY(observe(stop))};
  report.left = plan::diff(report.after, desired, ownership_);
  for (int round = 0; round < rounds && !report.left.empty(); ++round) {
    Outcome outcome = apply(report.left, stop);
    const bool stuck = outcome.count(Effect::failed) == report.left.ops.size();
    std::ranges::move(report.left.ops, std::back_inserter(report.done.ops));
    std::ranges::move(outcome.results, std::back_inserter(report.outcome.results));
    report.after = TRY(observe(stop));
    report.left = plan::diff(report.after, desired, ownership_);
    if (stuck) break;  // Every operation was refused: the caller backs off.
  }
  return report;
}

}  // namespace kernel
