#include "intent/cluster/config_status.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/published_config.h"

namespace intent {
namespace {

using Status = api::IPRuleConfig::Status;
using Stage = Spread::Stage;

constexpr const char* kApplied = "Applied";
constexpr const char* kCleanedUp = "CleanedUp";

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

meta::Condition applied(const Spread& spread) {
  meta::Condition out{.type = kApplied};
  const std::size_t missing = spread.missing.size();
  switch (spread.stage) {
    case Stage::applied:
      out.status = meta::Truth::yes;
      out.reason = "AllNodes";
      out.message = fmt::format("in force on {} node{}", spread.asked, spread.asked == 1 ? "" : "s");
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
    case Stage::under_way:
    case Stage::failing:
      out.status = meta::Truth::no;
      out.reason =
          std::ranges::all_of(spread.missing, [](const Shortfall& one) { return one.reason == "AgentNotReady"; })
              ? "AgentNotReady"
              : "NodesFailing";
      out.message = fmt::format("{}/{} nodes; not on: {}", spread.asked - std::min(missing, spread.asked), spread.asked,
                                describe(spread.missing));
      break;
  }
  return out;
}

// What failed, by node, with the time since when.
std::vector<api::IPRuleConfig::NodeFailure> failures(const Status& before, const Spread& spread, meta::Time now) {
  std::vector<api::IPRuleConfig::NodeFailure> out;
  for (const Shortfall& one : spread.missing) {
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

std::string some_of(const std::vector<std::string>& names, std::size_t most) {
  const auto named = std::span(names).first(std::min(names.size(), most));
  std::string out = fmt::format("{}", fmt::join(named, ", "));
  if (names.size() > named.size()) out += fmt::format(" and {} more", names.size() - named.size());
  return out;
}

Status with_epoch(const api::IPRuleConfig& config) {
  Status out = config.status;
  out.observed_generation = config.meta.generation;
  out.epoch = static_cast<std::int64_t>(api::epoch(config));
  return out;
}

Spread spread_of(const api::IPRuleConfig& present, const NodeReports& reports, Patience& patience) {
  const NodeReports::Audience audience = reports.audience(present.spec.node_selector);
  Spread out{.asked = audience.asked};
  if (audience.asked == 0) {
    out.stage = audience.old > 0 ? Stage::unreported : Stage::no_agent;
    return out;
  }
  bool is_late = false;
  for (const Holder* holder : reports.not_applied(present)) {
    if (out.missing.empty()) is_late = patience.is_late(key_of(present));
    out.missing.push_back(shortfall_of(*holder, present));
    is_late = is_late || failure_of(*holder, present) != nullptr;
  }
  if (out.missing.empty()) {
    out.stage = Stage::applied;
  } else {
    out.stage = is_late ? Stage::failing : Stage::under_way;
  }
  return out;
}

std::optional<Status> present_status(const api::IPRuleConfig& config, const Spread& spread, meta::Time now) {
  if (spread.stage == Stage::under_way) return std::nullopt;
  Status out = with_epoch(config);
  meta::Condition condition = applied(spread);
  condition.observed_generation = config.meta.generation;
  meta::set(out.conditions, std::move(condition), now);
  drop(out.conditions, kCleanedUp);
  out.nodes = failures(config.status, spread, now);
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
