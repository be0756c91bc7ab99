#include "agent/purge.h"

#include <chrono>

#include "agent/change_log.h"
#include "kernel/engine.h"

namespace agent {

base::Result<std::size_t> purge(const plan::Ownership& ownership, std::stop_token stop) {
  const auto begun = std::chrono::steady_clock::now();
  auto engine = TRY(kernel::Engine::open(ownership, kernel::Engine::Reach::steering));
  const auto report = TRY(engine.converge({}, std::move(stop)));
  log_changes(report, std::chrono::steady_clock::now() - begun);
  if (report.settled()) return report.outcome.count(kernel::Effect::done);
  for (const kernel::OpResult& result : report.outcome.results) {
    if (result.effect == kernel::Effect::failed) return std::unexpected(result.status.error());
  }
  return base::fail(base::Fault::unavailable, "rules kept changing while they were removed; try again");
}

}  // namespace agent
