#include "agent/preview.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "agent/node_compiler.h"
#include "agent/node_settings.h"
#include "kernel/engine.h"
#include "kernel/facts.h"
#include "plan/diff.h"
#include "plan/foreign_rules.h"

namespace agent {
namespace {

using Configs = std::vector<api::PublishedConfig>;

Wanted compile(const Configs& configs, const std::string& node, const NodeSettings& settings,
               const state::Observation& seen, const state::NodeFacts& facts) {
  std::vector<const api::PublishedConfig*> pointers;
  for (const api::PublishedConfig& config : configs) pointers.push_back(&config);
  return NodeCompiler(node).compile(pointers, settings, true,
                                    {.kernel = &state::state_of(seen),
                                     .facts = facts,
                                     .verified = state::is_verified(seen),
                                     .now = std::chrono::steady_clock::now()});
}

std::vector<ForeignRule> foreign_on(const state::NetState& kernel, const plan::Ownership& ownership,
                                    const std::vector<plan::Clash>& clashes) {
  std::vector<ForeignRule> out;
  for (const state::Rule& rule : plan::rules_of_others(kernel, ownership)) {
    out.push_back({.what = fmt::format("{} rule {}", net::text(rule.family), state::text(rule)),
                   .beside_ours = std::ranges::find(clashes, rule, &plan::Clash::foreign) != clashes.end()});
  }
  for (const state::OpaqueRule& rule : kernel.opaque_rules) {
    if (!ownership.owns(rule))
      out.push_back({.what = fmt::format("{} rule {}", net::text(rule.family), state::text(rule))});
  }
  return out;
}

Preview preview(const Configs& configs, const std::string& node, const NodeSettings& settings,
                const state::Observation& seen, const state::NodeFacts& facts) {
  const plan::Ownership ownership{.protocols = {settings.protocol}};
  Wanted wanted = compile(configs, node, settings, seen, facts);
  Preview out{.todo = plan::diff(seen, wanted.state, ownership), .facts = facts};
  out.foreign = foreign_on(state::state_of(seen), ownership, out.todo.clashes);
  if (const auto* unverified = std::get_if<state::Unverified>(&seen)) out.doubt = unverified->reason;
  for (const api::NodeState::Failed& failed : wanted.failed) {
    out.skipped.push_back(fmt::format("{}: {}: {}", failed.name, failed.reason, failed.message));
  }
  out.wanted = std::move(wanted.state);
  return out;
}

}  // namespace

state::NetState wanted_on(const Configs& configs, const std::string& node, const NodeSettings& settings,
                          const state::Observation& seen, const state::NodeFacts& facts) {
  return compile(configs, node, settings, seen, facts).state;
}

state::NetState wanted_on(const Manifests& manifests, const std::string& node, const NodeSettings& settings,
                          const state::NodeFacts& facts) {
  const state::Observation nothing = state::Verified{};
  return wanted_on(publish(manifests), node, settings, nothing, facts);
}

Preview preview(const Manifests& manifests, const std::string& node, const NodeSettings& settings,
                const state::Observation& seen, const state::NodeFacts& facts) {
  return preview(publish(manifests), node, settings, seen, facts);
}

base::Result<state::NodeFacts> facts_for(kernel::Socket& socket, const Configs& configs, const std::string& node,
                                         const NodeSettings& settings, const state::Observation& seen) {
  std::set<std::uint32_t> tables;
  const Wanted wanted = compile(configs, node, settings, seen, {});
  for (const state::Rule& rule : wanted.state.rules) tables.insert(rule.table);
  return kernel::read_facts(socket, tables, {});
}

base::Result<Preview> preview_here(const Configs& configs, const std::string& node, const NodeSettings& settings) {
  auto engine = TRY(kernel::Engine::open({}, kernel::Engine::Reach::steering));
  const auto seen = TRY(engine.observe({}));
  return preview(configs, node, settings, seen, TRY(facts_for(engine.socket(), configs, node, settings, seen)));
}

base::Result<Preview> preview_here(const Manifests& manifests, const std::string& node) {
  return preview_here(publish(manifests), node, settings_of(manifests, node));
}

}  // namespace agent
