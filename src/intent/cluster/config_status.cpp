#include "intent/cluster/config_status.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "api/published_config.h"
#include "intent/cluster/finding_codes.h"

namespace intent {
namespace {

using Status = api::IPRuleConfig::Status;
using Stage = Spread::Stage;

constexpr const char* kApplied = "Applied";
constexpr const char* kCleanedUp = "CleanedUp";
constexpr const char* kEmptyTable = "EmptyTable";

// For all agents to be seen: a list that fails is asked for again after up to half of it.
constexpr base::Duration kUntilSeen = std::chrono::minutes(1);

std::string key_of(const api::IPRuleConfig& config) {
  return fmt::format("{}/{}", config.meta.uid, config.meta.generation);
}

Shortfall shortfall_of(const Holder& holder, const api::IPRuleConfig& config) {
  Shortfall out{.node = std::string(holder.name), .reason = "NoReport", .message = "the agent there has not reported"};
  if (const auto* failed = failure_of(holder, config)) {
    out.reason = failed->reason;
    out.message = failed->message;
  } else if (holder.pod != nullptr && !holder.pod->is_ready) {
    out.reason = "AgentNotReady";
    out.message = fmt::format("the agent's pod {} is not ready", holder.pod->meta.name);
  }
  return out;
}

std::string describe(const std::vector<Shortfall>& missing) {
  std::vector<std::string> texts;
  for (const Shortfall& one : missing) texts.push_back(fmt::format("{} ({}: {})", one.node, one.reason, one.message));
  return some_of(texts);
}

std::string count_nodes(const Spread& spread) {
  const std::size_t held = spread.asked - std::min(spread.missing.size(), spread.asked);
  const std::size_t all = spread.asked + spread.bare.size();
  return held == all ? fmt::format("{} node{}", all, all == 1 ? "" : "s") : fmt::format("{}/{} nodes", held, all);
}

std::string without_route(const std::vector<Shortfall>& nodes) {
  if (nodes.empty()) return "";
  std::vector<std::string> names;
  for (const Shortfall& one : nodes) names.push_back(one.node);
  return with_code(fmt::format("; no route on: {}", some_of(names)), finding_code(kEmptyTable));
}

meta::Condition applied(const api::IPRuleConfig& config, const Spread& spread) {
  meta::Condition out{.type = kApplied};
  switch (spread.stage) {
    case Stage::applied:
      out.status = meta::Truth::yes;
      out.reason = "AllNodes";
      out.message = fmt::format("in force on {}{}", count_nodes(spread), with_unseen_agents(spread.unseen_agents));
      break;
    case Stage::no_node:
      out.status = meta::Truth::no;
      out.reason = "NoMatchingNodes";
      out.message = no_node_text(config.spec.node_selector);
      break;
    case Stage::no_agent:
      out.status = meta::Truth::no;
      out.reason = "AgentMissing";
      out.message = "no agent runs on any node this is for; create an Agent, or widen its nodeSelector and tolerations";
      break;
    case Stage::unreported:
      out.reason = "OldAgents";
      out.message = "only agents of the old project run where this is for, and they do not report what they hold";
      break;
    case Stage::unseen:
      out.reason = "AgentsUnseen";
      out.message = unseen_agents_text(spread.unseen_agents);
      break;
    case Stage::unwritten:
    case Stage::under_way:
    case Stage::failing:
      out.status = meta::Truth::no;
      out.reason =
          std::ranges::all_of(spread.missing, [](const Shortfall& one) { return one.reason == "AgentNotReady"; })
              ? "AgentNotReady"
              : "NodesFailing";
      out.message = fmt::format("{}; not on: {}", count_nodes(spread), describe(spread.missing));
      break;
  }
  out.message += without_route(spread.no_route) + without_agent(spread.bare);
  return out;
}

// What failed, by node, with the time since when; then where it is in force and of no use.
std::vector<api::IPRuleConfig::NodeFailure> failures(const Status& before, const Spread& spread, meta::Time now) {
  std::vector<api::IPRuleConfig::NodeFailure> out;
  std::vector<Shortfall> all = spread.missing;
  for (const Shortfall& one : spread.no_route) {
    if (std::ranges::find(spread.missing, one.node, &Shortfall::node) == spread.missing.end()) all.push_back(one);
  }
  for (const Shortfall& one : all) {
    if (out.size() == api::NodeState::kMaxFailed) break;
    const auto known = std::ranges::find(before.nodes, one.node, &api::IPRuleConfig::NodeFailure::node);
    const bool is_known = known != before.nodes.end() && known->reason == one.reason;
    out.push_back({.node = one.node,
                   .reason = one.reason,
                   .message = one.message,
                   .last_transition = is_known ? known->last_transition : now});
  }
  return out;
}

void drop(std::vector<meta::Condition>& conditions, std::string_view type) {
  std::erase_if(conditions, [&](const meta::Condition& condition) { return condition.type == type; });
}

}  // namespace

std::string some_of(std::span<const std::string> names, std::size_t most) {
  const auto named = names.first(std::min(names.size(), most));
  std::string out = fmt::format("{}", fmt::join(named, ", "));
  if (names.size() > named.size()) out += fmt::format(" and {} more", names.size() - named.size());
  return out;
}

std::string no_node_text(const meta::Labels& selector) {
  return with_code(
      fmt::format("no node has the labels {}; label nodes, or change spec.nodeSelector of the IPRule", selector.text()),
      finding_code("NoMatchingNodes"));
}

std::string unseen_agents_text(std::span<const std::string> unseen) {
  return fmt::format(
      "{} cannot be seen, so whether one runs where this is for is unknown; /readyz of the controller's pod tells why",
      some_of(unseen));
}

std::string with_unseen_agents(std::span<const std::string> unseen) {
  return unseen.empty() ? "" : "; " + unseen_agents_text(unseen);
}

std::string without_agent(std::span<const std::string> bare) {
  if (bare.empty()) return "";
  return fmt::format("; no agent on: {} (kubectl describe daemonset iprule-agent tells why, or their taints do)",
                     some_of(bare));
}

Status with_epoch(const api::IPRuleConfig& config) {
  Status out = config.status;
  out.observed_generation = config.meta.generation;
  out.epoch = static_cast<std::int64_t>(api::epoch(config));
  return out;
}

std::string table_text(std::uint32_t table, const std::string& vrf) {
  return vrf.empty() ? fmt::format("table {}", table) : fmt::format("the table of VRF {}", vrf);
}

Spread spread_of(const api::IPRuleConfig& present, const NodeReports& reports, Patience& patience) {
  const NodeReports::Audience& audience = reports.audience(present.spec.node_selector);
  Spread out{.asked = audience.asked, .bare = audience.bare};
  // Where each node has one that is seen, no other counts.
  if (audience.picked > audience.asked + audience.old) out.unseen_agents = reports.unseen_agents();
  // As when this process has just started: what it has not been told yet is not absent.
  const bool is_early = !out.unseen_agents.empty() && !patience.is_late("agents are seen", kUntilSeen);
  if (audience.asked == 0) {
    out.stage = audience.old > 0 ? Stage::unreported : audience.picked > 0 ? Stage::no_agent : Stage::no_node;
    if (out.stage == Stage::no_agent && !out.unseen_agents.empty()) {
      out.stage = is_early ? Stage::under_way : Stage::unseen;
    }
    return out;
  }
  for (const Holder* holder : reports.without_routes(present)) {
    out.no_route.push_back(
        {.node = std::string(holder->name),
         .reason = kEmptyTable,
         .message = fmt::format("{} has no route there", table_text(api::table_of(present.spec), present.spec.vrf))});
  }
  bool is_late = false;
  for (const Holder* holder : reports.not_applied(present)) {
    if (out.missing.empty()) is_late = patience.is_late(key_of(present));
    out.missing.push_back(shortfall_of(*holder, present));
    is_late = is_late || failure_of(*holder, present) != nullptr;
  }
  if (out.missing.empty()) {
    out.stage = is_early ? Stage::under_way : Stage::applied;
  } else {
    out.stage = is_late ? Stage::failing : Stage::under_way;
  }
  return out;
}

std::optional<Status> present_status(const api::IPRuleConfig& config, const Spread& spread, meta::Time now) {
  if (spread.stage == Stage::under_way) return std::nullopt;
  Status out = with_epoch(config);
  meta::Condition condition = applied(config, spread);
  condition.observed_generation = config.meta.generation;
  meta::set(out.conditions, std::move(condition), now);
  drop(out.conditions, kCleanedUp);
  if (spread.stage != Stage::unseen) out.nodes = failures(config.status, spread, now);
  if (out == config.status) return std::nullopt;
  return out;
}

std::optional<Status> withdrawn_status(const api::IPRuleConfig& config, const NodeReports& reports, Patience& patience,
                                       meta::Time now) {
  const auto missing = reports.missing(config);
  if (missing.empty() || !patience.is_late(key_of(config))) return std::nullopt;
  Status out = with_epoch(config);
  std::vector<std::string> failing;
  for (const Holder& holder : reports.holders()) {
    if (const auto* failed = failure_of(holder, config)) {
      failing.push_back(fmt::format("{} ({}: {})", holder.name, failed->reason, failed->message));
    }
  }
  const std::size_t all = std::max(reports.holders().size(), missing.size());
  meta::set(out.conditions,
            {.type = kCleanedUp,
             .status = meta::Truth::no,
             .observed_generation = config.meta.generation,
             .last_transition = {},
             .reason = failing.empty() ? "WaitingForNodes" : "NodesFailing",
             .message = fmt::format("{}/{} nodes have let go; waiting for: {}{}{}. Look at the agents there",
                                    all - missing.size(), all, some_of(missing, kMostMissing),
                                    failing.empty() ? "" : "; failed on: ", some_of(failing))},
            now);
  drop(out.conditions, kApplied);
  out.nodes.clear();
  if (out == config.status) return std::nullopt;
  return out;
}

}  // namespace intent
