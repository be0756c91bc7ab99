#include "agent/preview.h"

#include <chrono>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "agent/node_compiler.h"
#include "kernel/engine.h"
#include "kernel/facts.h"
#include "plan/diff.h"

namespace agent {
namespace {

Wanted wanted_of(const Manifests& manifests, const std::string& node, const state::Observation& seen,
                 const state::NodeFacts& facts) {
  const auto configs = publish(manifests);
  std::vector<const api::PublishedConfig*> pointers;
  for (const api::PublishedConfig& config : configs) pointers.push_back(&config);
  return NodeCompiler(node).compile(pointers, {}, true,
                                    {.kernel = &state::state_of(seen),
                                     .facts = facts,
                                     .verified = state::is_verified(seen),
                                     .now = std::chrono::steady_clock::now()});
}

}  // namespace

Preview preview(const Manifests& manifests, const std::string& node, const state::Observation& seen,
                const state::NodeFacts& facts) {
  const Wanted wanted = wanted_of(manifests, node, seen, facts);
  Preview out{.todo = plan::diff(seen, wanted.state, plan::Ownership())};
  if (const auto* unverified = std::get_if<state::Unverified>(&seen)) out.doubt = unverified->reason;
  for (const api::NodeState::Failed& failed : wanted.failed) {
    out.skipped.push_back(fmt::format("{}: {}: {}", failed.name, failed.reason, failed.message));
  }
  return out;
}

base::Result<Preview> preview_here(const Manifests& manifests, const std::string& node) {
  auto engine = TRY(kernel::Engine::open({}, kernel::Engine::Reach::steering));
  const auto seen = TRY(engine.observe({}));
  // First what tables are looked up, then what is in them, which may decide how.
  std::set<std::uint32_t> tables;
  const Wanted wanted = wanted_of(manifests, node, seen, {});
  for (const state::Rule& rule : wanted.state.rules) tables.insert(rule.table);
  return preview(manifests, node, seen, TRY(kernel::read_facts(engine.socket(), tables, {})));
}

}  // namespace agent
