#include "intent/cluster/effect.h"

#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dataplane/steering.h"
#include "intent/cluster/config_status.h"
#include "intent/cluster/prospect.h"
#include "intent/node/source_sight.h"

namespace intent {
namespace {

using api::SourceMode;
using meta::Truth;
using Names = std::vector<std::string>;

// The reports of nodes this IPRule is for.
std::vector<const Holder*> reporting(const api::IPRule& rule, const NodeReports& reports) {
  std::vector<const Holder*> out;
  for (const Holder& holder : reports.holders()) {
    if (!holder.is_asked || holder.reach == 0) continue;
    if (rule.spec.node_selector.matches(holder.node->meta.labels)) out.push_back(&holder);
  }
  return out;
}

// Where no report counts. Agents that cannot be seen may have reported: what was said of this generation is said on.
meta::Condition without_reports(const api::IPRule& rule, const NodeReports& reports, std::string type) {
  meta::Condition out{.type = std::move(type), .status = Truth::unknown};
  if (reports.unseen_agents().empty()) {
    out.reason = "NoReports";
    out.message = "no node has reported yet";
    return out;
  }
  const meta::Condition* before = meta::find(rule.status.conditions, out.type);
  if (before != nullptr && before->observed_generation == rule.meta.generation) return *before;
  out.reason = "AgentsUnseen";
  out.message = unseen_agents_text(reports.unseen_agents());
  return out;
}

// "worker-1 (IPv6)" for each node where the table has no route of a family in use.
Names without_routes(const RuleOutcome& outcome, std::span<const Holder* const> holders) {
  Names out;
  for (const Holder* holder : holders) {
    for (const net::Family family :
         families_without_routes(outcome.rule->spec, outcome.acceptance.prefixes, holder->state->status)) {
      out.push_back(fmt::format("{} ({})", holder->name, net::text(family)));
    }
  }
  return out;
}

// "worker-1 (nftables)"
std::string with_proxy(const Holder& holder) {
  return fmt::format("{} ({})", holder.name, text(proxy_of(holder.state->status.facts)));
}

std::string modes_text(std::span<const SourceMode> modes) {
  std::string out;
  for (const SourceMode mode : modes) out += fmt::format("{}{}", out.empty() ? "" : ", ", text(mode));
  return out;
}

// What stands in the way, with the nodes where it does.
struct Outlook {
  Names never_seen;
  Names no_conntrack;
  Names strict;                 // "eth1 on worker-1"
  std::set<std::string> cures;  // A command for each such device.
  Names unknown;
  Names idle;  // "ClusterIP on worker-1 (nftables)": some modes, while others work.
};

void add(Outlook& out, const Holder& holder, const Prospect& prospect) {
  switch (prospect.obstacle) {
    case Obstacle::never_seen:
      out.never_seen.push_back(with_proxy(holder));
      return;
    case Obstacle::no_conntrack:
      out.no_conntrack.emplace_back(holder.name);
      return;
    case Obstacle::strict_reverse_path:
      for (const std::string& device : prospect.strict_devices) {
        out.strict.push_back(fmt::format("{} on {}", device, holder.name));
        out.cures.insert(dataplane::loose_filter_command(device));
      }
      return;
    case Obstacle::unknown:
      out.unknown.emplace_back(holder.name);
      return;
    case Obstacle::none:
      break;
  }
  if (!prospect.idle.empty())
    out.idle.push_back(fmt::format("{} on {}", modes_text(prospect.idle), with_proxy(holder)));
}

Outlook outlook_of(const RuleOutcome& outcome, std::span<const Holder* const> holders, api::Dataplane dataplane) {
  Outlook out;
  for (const Holder* holder : holders) {
    add(out, *holder, prospect_of(*outcome.rule, outcome.acceptance.prefixes, holder->state->status, dataplane));
  }
  return out;
}

meta::Condition verdict(Truth status, std::string reason, std::string message) {
  return {.type = "Effective",
          .status = status,
          .last_transition = {},
          .reason = std::move(reason),
          .message = std::move(message)};
}

// Whether replies meet the rules, now that there are routes behind them.
meta::Condition judge(const api::IPRule& rule, const Outlook& outlook) {
  if (!outlook.strict.empty()) {
    return verdict(Truth::no, "StrictReversePath",
                   fmt::format("packets are dropped on arrival: rp_filter is 1 for {}. On the node: {} (IPR0310)",
                               some_of(outlook.strict), fmt::join(outlook.cures, "; ")));
  }
  if (!outlook.no_conntrack.empty()) {
    return verdict(Truth::no, "NoConntrack",
                   fmt::format("replies are told by the kernel's connection tracking, which is off on: {}",
                               some_of(outlook.no_conntrack)));
  }
  if (!outlook.never_seen.empty()) {
    return verdict(Truth::no, "SourceNeverSeen",
                   fmt::format("behind the service proxy no reply carries what {} looks for when its route is chosen: "
                               "{}. Use the source mode Reply: {} (IPR0301)",
                               modes_text(rule.modes()), some_of(outlook.never_seen),
                               patch_command(rule.meta.name, SourceMode::reply)));
  }
  if (!outlook.unknown.empty()) {
    return verdict(
        Truth::unknown, "SourceNotObserved",
        fmt::format("no service proxy of Kubernetes was found on: {}. Whether replies carry what {} looks for "
                    "depends on the network plugin there (iprulectl doctor looks)",
                    some_of(outlook.unknown), modes_text(rule.modes())));
  }
  if (!outlook.idle.empty()) {
    return verdict(Truth::yes, "NothingInTheWay",
                   fmt::format("no fact the nodes report stands in the way; of no use: {}", some_of(outlook.idle)));
  }
  return verdict(Truth::yes, "NothingInTheWay", "no fact the nodes report stands in the way");
}

}  // namespace

meta::Condition routes_missing(const RuleOutcome& outcome, const NodeReports& reports) {
  const auto holders = reporting(*outcome.rule, reports);
  if (holders.empty()) return without_reports(*outcome.rule, reports, "RoutesMissing");
  meta::Condition out{.type = "RoutesMissing"};
  const Names nodes = without_routes(outcome, holders);
  out.status = nodes.empty() ? Truth::no : Truth::yes;
  out.reason = nodes.empty() ? "RoutesPresent" : "EmptyTable";
  if (!nodes.empty()) {
    const api::IPRule::Spec& spec = outcome.rule->spec;
    out.message = fmt::format(
        "{} has no route on: {}. Lookups fall through to the next rule there; add the routes, for example: ip route "
        "add "
        "default via GATEWAY {} (IPR0311)",
        table_text(spec.table, spec.vrf), some_of(nodes),
        spec.vrf.empty() ? fmt::format("table {}", spec.table) : fmt::format("vrf {}", spec.vrf));
  }
  return out;
}

meta::Condition effective(const RuleOutcome& outcome, const NodeReports& reports, std::uint32_t default_priority,
                          api::Dataplane dataplane) {
  const api::IPRule& rule = *outcome.rule;
  const std::uint32_t priority = effective_priority(rule.spec.priority, !rule.spec.vrf.empty(), default_priority);
  if (priority >= state::kPriorityMain) {
    return verdict(Truth::no, "PriorityAfterMain",
                   fmt::format("priority {} comes after the main table, whose default route answers first; set "
                               "spec.priority to 32765 or less",
                               priority));
  }
  const auto holders = reporting(rule, reports);
  if (holders.empty()) return without_reports(rule, reports, "Effective");
  if (const Names nodes = without_routes(outcome, holders); !nodes.empty()) {
    return verdict(
        Truth::no, "RoutesMissing",
        fmt::format("{} has no route on: {} (IPR0311)", table_text(rule.spec.table, rule.spec.vrf), some_of(nodes)));
  }
  return judge(rule, outlook_of(outcome, holders, dataplane));
}

}  // namespace intent
