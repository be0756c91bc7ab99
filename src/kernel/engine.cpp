#include "kernel/engine.h"

#include <algorithm>
#include <iterator>

namespace kernel {

base::Result<Engine> Engine::open(plan::Ownership ownership, Reach reach) {
  return Engine(TRY(Socket::open(Bus::route)), std::move(ownership), reach);
}

base::Result<state::Observation> Engine::observe(std::stop_token stop, const state::NetState& desired) {
  ObserveOptions options{.routing = reach_ == Reach::all, .protocols = ownership_.protocols};
  for (const state::Route& route : desired.routes) options.tables.push_back(route.table);
  std::ranges::sort(options.tables);
  options.tables.erase(std::ranges::unique(options.tables).begin(), options.tables.end());
  return kernel::observe(socket_, stop, options);
}

base::Result<Engine::Report> Engine::converge(const state::NetState& desired, std::stop_token stop, int rounds) {
  Report report{.after = TRY(observe(stop, desired))};
  report.left = plan::diff(report.after, desired, ownership_);
  for (int round = 0; round < rounds && !report.left.empty(); ++round) {
    Outcome outcome = apply(report.left, stop);
    const bool stuck = outcome.count(Effect::failed) + outcome.count(Effect::pending) == report.left.ops.size();
    std::ranges::move(report.left.ops, std::back_inserter(report.done.ops));
    std::ranges::move(outcome.results, std::back_inserter(report.outcome.results));
    report.after = TRY(observe(stop, desired));
    report.left = plan::diff(report.after, desired, ownership_);
    if (stuck) break;  // Every operation was refused: the caller backs off.
  }
  return report;
}

}  // namespace kernel
