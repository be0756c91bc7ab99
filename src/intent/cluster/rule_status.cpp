#include "intent/cluster/rule_status.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "intent/cluster/effect.h"
#include "intent/cluster/finding_codes.h"
#include "intent/cluster/number_advice.h"
#include "state/rule.h"

namespace intent {
namespace {

using meta::Truth;
using Stage = Spread::Stage;

constexpr std::size_t kMostConflicts = 5;
constexpr std::chrono::seconds kUsualWait{60};  // For a load balancer to give an address.

const char* plural(std::size_t n) {
  return n == 1 ? "" : "s";
}

meta::Condition accepted(const RuleOutcome& outcome, std::uint32_t default_priority) {
  const api::IPRule::Spec& spec = outcome.rule->spec;
  meta::Condition out{.type = "Accepted", .status = outcome.acceptance.accepted() ? Truth::yes : Truth::no};
  out.reason = outcome.acceptance.reason;
  out.message = outcome.acceptance.message;
  if (!outcome.acceptance.accepted()) return out;
  const std::uint32_t priority = effective_priority(spec.priority, !spec.vrf.empty(), default_priority);
  out.message += fmt::format("; priority {}{}", priority, spec.priority == 0 ? " (default)" : "");
  if (!spec.vrf.empty() && priority >= state::kPriorityVrf) {
    out.message += fmt::format(
        "; the kernel's own rule for VRFs at {} decides first about what comes in by their devices: set spec.priority "
        "to {} or less",
        state::kPriorityVrf, state::kPriorityVrf - 1);
  }
  const auto advice = number_advice(*outcome.rule, default_priority);
  for (const NumberAdvice& one : advice) out.message += fmt::format("; {}: {}", one.field, one.text);
  if (!advice.empty()) out.message = with_code(std::move(out.message), kNumberOfOthers);
  return out;
}

int common_bits(const net::Address& left, const net::Address& right) {
  int bits = 0;
  while (bits < left.bits() && left.masked(bits + 1) == right.masked(bits + 1)) ++bits;
  return bits;
}

// Of sorted addresses, the one that shares most with a prefix is one of its neighbours.
std::optional<net::Address> nearest(const std::vector<net::Address>& vips, std::span<const net::Prefix> prefixes) {
  std::optional<net::Address> best;
  int best_bits = -1;
  for (const net::Prefix& prefix : prefixes) {
    const auto after = std::ranges::lower_bound(vips, prefix.address());
    for (auto at = after == vips.begin() ? after : after - 1; at != vips.end() && at <= after; ++at) {
      if (at->family() != prefix.family()) continue;
      const int bits = common_bits(*at, prefix.address());
      if (bits > best_bits) best = *at, best_bits = bits;
    }
  }
  return best;
}

std::string no_match(const RuleOutcome& outcome, const ServiceCensus& census) {
  std::string out = fmt::format(
      "no load balancer address lies in the prefixes: {} LoadBalancer Service{}, {} address{}", census.load_balancers,
      plural(census.load_balancers), census.vips.size(), census.vips.size() == 1 ? "" : "es");
  if (census.pending > 0) out += fmt::format(", {} without an address yet", census.pending);
  if (const auto vip = nearest(census.vips, outcome.acceptance.prefixes)) {
    out += fmt::format(", nearest {}", vip->text());
  }
  return out + "; compare spec.cidrs with the addresses in: kubectl get services -A (IPR0402)";
}

// Whether the nodes and their agents are the reason.
bool is_about_nodes(std::string_view reason) {
  return reason != "NoMatch" && reason != "CleaningUp" && reason != "NotPublished";
}

// What stays said while objects are on their way: that all was in force, for it still is; and what nodes are said to
// lack while it cannot be seen who is asked. Nothing that was said of another generation.
const meta::Condition* said_before(const api::IPRule& rule, const RuleSpread& spread) {
  const auto* before = meta::find(rule.status.conditions, "Programmed");
  if (spread.under_way == 0 || before == nullptr) return nullptr;
  if (before->observed_generation != rule.meta.generation) return nullptr;
  const bool is_unseen = !spread.unseen_agents.empty() && is_about_nodes(before->reason);
  return before->status == Truth::yes || is_unseen ? before : nullptr;
}

meta::Condition programmed(const RuleOutcome& outcome, const RuleSpread& spread, const ServiceCensus& census,
                           const NodeReports& reports) {
  meta::Condition out{.type = "Programmed", .status = Truth::no};
  if (spread.configs == 0 && !spread.cleaning.empty()) {
    out.reason = "CleaningUp";
    out.message = fmt::format(
        "nodes are removing what is no longer wanted: {}; their condition CleanedUp names who is "
        "waited for",
        some_of(spread.cleaning));
  } else if (!outcome.acceptance.accepted()) {
    out.reason = "NoMatch";
    out.message = "not accepted, so nothing is published; see the condition Accepted";
  } else if (spread.configs == 0 && !outcome.conflicts.empty()) {
    out.reason = "NoMatch";
    out.message = "every match gave way to another IPRule; see the condition Conflicted (IPR0101)";
  } else if (spread.configs == 0 && outcome.matched_vips + outcome.shadowed_vips > 0) {
    out.reason = "NoMatch";
    out.message = outcome.matched_vips > 0
                      ? "addresses match, but no source can be steered by them; see the Events of the Services"
                      : "more specific IPRules steer every address in the prefixes; to steer one by this, give it the "
                        "longer prefix (IPR0102)";
  } else if (spread.configs == 0) {
    out.reason = "NoMatch";
    out.message = no_match(outcome, census);
  } else if (spread.unwritten > 0) {
    out.reason = "NotPublished";
    out.message = fmt::format("{} of {} object{} cannot be written, and until they can, nodes keep what they have: {}",
                              spread.unwritten, spread.configs, plural(spread.configs), spread.refusal);
  } else if (spread.no_node > 0) {
    out.reason = "NoMatchingNodes";
    out.message = no_node_text(outcome.rule->spec.node_selector);
  } else if (spread.no_agent > 0) {
    out.reason = "AgentMissing";
    out.message =
        "no agent runs on any node this is for; create an Agent, or widen its nodeSelector and tolerations (kubectl "
        "get "
        "agents -A)";
  } else if (!spread.missing.empty()) {
    std::vector<std::string> texts;
    bool is_start = true;
    for (const auto& [node, one] : spread.missing) {
      texts.push_back(fmt::format("{} ({}: {})", node, one.reason, one.message));
      is_start = is_start && one.reason == "AgentNotReady";
    }
    out.reason = is_start ? "AgentNotReady" : "NodesFailing";
    out.message = fmt::format("not on: {}", some_of(texts));
  } else if (const auto* before = said_before(*outcome.rule, spread)) {
    return *before;
  } else if (spread.unseen > 0 || (spread.under_way > 0 && !spread.unseen_agents.empty())) {
    out.status = Truth::unknown;
    out.reason = "AgentsUnseen";
    out.message = unseen_agents_text(reports.unseen_agents());
  } else if (spread.under_way > 0) {
    out.status = Truth::unknown;
    out.reason = "Progressing";
    out.message = "nodes are being told";
  } else if (spread.unreported == spread.configs) {
    out.status = Truth::unknown;
    out.reason = "OldAgents";
    out.message = "only agents of the old project run where this is for, and they do not report what they hold";
  } else {
    out.status = Truth::yes;
    out.reason = "AllNodes";
    const bool are_all = spread.bare.empty() && spread.unseen_agents.empty();
    out.message = fmt::format("{} object{} in force on all nodes{}{}{}", spread.configs, plural(spread.configs),
                              are_all ? "" : " that run an agent", without_agent(spread.bare),
                              with_unseen_agents(spread.unseen_agents));
  }
  if (!spread.names_taken.empty()) {
    out.message += fmt::format("; not ours (no label managed-by) and left alone: {}", some_of(spread.names_taken));
  }
  return out;
}

meta::Condition conflicted(const RuleOutcome& outcome) {
  if (outcome.conflicts.empty()) {
    return {.type = "Conflicted", .status = Truth::no, .last_transition = {}, .reason = "NoConflict", .message = ""};
  }
  const std::size_t named = std::min(outcome.conflicts.size(), kMostConflicts);
  std::string message = fmt::format("{}", fmt::join(std::span(outcome.conflicts).first(named), "; "));
  if (outcome.conflicts.size() > named) message += fmt::format("; and {} more", outcome.conflicts.size() - named);
  return {.type = "Conflicted",
          .status = Truth::yes,
          .last_transition = {},
          .reason = "PriorityConflict",
          .message = std::move(message)};
}

std::string dataplane_of(const api::IPRule& rule, const NodeReports& reports) {
  std::set<api::Backend> used;
  for (const Holder& holder : reports.holders()) {
    if (!holder.is_asked || holder.reach == 0 || !rule.spec.node_selector.matches(holder.node->meta.labels)) continue;
    if (holder.state->status.dataplane != api::Backend::unknown) used.insert(holder.state->status.dataplane);
  }
  // As when this process has just started: agents that are not seen yet still use what they did.
  if (used.empty()) return reports.unseen_agents().empty() ? "" : rule.status.dataplane;
  if (used.size() > 1) return "mixed";
  return *used.begin() == api::Backend::marks ? "marks" : "rules";
}

}  // namespace

void RuleSpread::add(const Spread& spread) {
  ++configs;
  // All select the same nodes; of one that is not written yet nobody has asked which.
  if (bare.empty()) bare = spread.bare;
  if (unseen_agents.empty()) unseen_agents = spread.unseen_agents;
  switch (spread.stage) {
    case Stage::applied:
      return;
    case Stage::under_way:
      ++under_way;
      return;
    case Stage::no_node:
      ++no_node;
      return;
    case Stage::no_agent:
      ++no_agent;
      return;
    case Stage::unreported:
      ++unreported;
      return;
    case Stage::unseen:
      ++unseen;
      return;
    case Stage::unwritten:
      if (unwritten++ == 0) refusal = spread.refusal;
      return;
    case Stage::failing:
      for (const Shortfall& one : spread.missing) missing.try_emplace(one.node, one);
      return;
  }
}

ServiceCensus ServiceCensus::of(std::span<const api::Service* const> services, meta::Time now) {
  ServiceCensus out;
  for (const api::Service* service : services) {
    if (!service->is_load_balancer) continue;
    ++out.load_balancers;
    if (service->vips.empty() && service->hostnames == 0) {
      const meta::Time due = service->meta.created + kUsualWait;
      if (due <= now) {
        ++out.pending;
      } else {
        out.next_pending = std::min(out.next_pending, due);
      }
    }
    out.vips.insert(out.vips.end(), service->vips.begin(), service->vips.end());
  }
  std::ranges::sort(out.vips);
  return out;
}

api::IPRule::Status rule_status(const RuleOutcome& outcome, const RuleSpread& spread, const ServiceCensus& census,
                                const NodeReports& reports, const api::Agent::Spec& settings, meta::Time now) {
  const std::uint32_t default_priority = api::default_priority(settings);
  const api::IPRule& rule = *outcome.rule;
  api::IPRule::Status out;
  out.observed_generation = rule.meta.generation;
  for (const net::Prefix& prefix : outcome.acceptance.prefixes) out.cidrs.push_back(prefix.text());
  out.matched_services = outcome.matched_services;
  out.matched_vips = outcome.matched_vips;
  out.shadowed_vips = outcome.shadowed_vips;
  out.configs = outcome.configs;
  out.dataplane = dataplane_of(rule, reports);
  out.conditions = rule.status.conditions;

  const auto set = [&](meta::Condition condition) {
    condition.observed_generation = rule.meta.generation;
    condition.message = with_code(std::move(condition.message), finding_code(condition.reason));
    meta::set(out.conditions, std::move(condition), now);
  };
  const auto drop = [&](std::string_view type) {
    std::erase_if(out.conditions, [&](const meta::Condition& condition) { return condition.type == type; });
  };
  set(accepted(outcome, default_priority));
  set(programmed(outcome, spread, census, reports));
  set(conflicted(outcome));
  if (spread.configs > 0) {
    set(routes_missing(outcome, reports));
    set(effective(outcome, reports, default_priority, settings.dataplane));
  } else {
    drop("RoutesMissing");
    drop("Effective");
  }
  if (rule.spec.node_selector_label.empty()) {
    drop("NodeSelectorLabelIgnored");
  } else {
    set({.type = "NodeSelectorLabelIgnored",
         .status = Truth::yes,
         .last_transition = {},
         .reason = "NoEffect",
         .message =
             "spec.nodeSelectorLabel never had an effect; use spec.nodeSelector with key and value to pick nodes"});
  }
  return out;
}

}  // namespace intent
