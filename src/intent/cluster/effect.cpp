#include "intent/cluster/effect.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "intent/cluster/config_status.h"

namespace intent {
namespace {

using api::ServiceProxy;
using api::SourceMode;
using meta::Truth;
using Names = std::vector<std::string>;

constexpr std::uint32_t kMainPriority = 32766;
constexpr int kStrict = 1;

// The reports of nodes this IPRule is for.
std::vector<const Holder*> reporting(const api::IPRule& rule, const NodeReports& reports) {
  std::vector<const Holder*> out;
  for (const Holder& holder : reports.holders()) {
    if (!holder.is_asked || holder.reach == 0) continue;
    if (rule.spec.node_selector.matches(holder.node->meta.labels)) out.push_back(&holder);
  }
  return out;
}

// "worker-1 (IPv6)" for each node where the table has no route of a family in use.
Names without_routes(const RuleOutcome& outcome, std::span<const Holder* const> holders) {
  Names out;
  for (const Holder* holder : holders) {
    for (const auto& empty : holder->state->status.empty_tables) {
      const net::Family family = empty.family == api::IPFamily::v4 ? net::Family::v4 : net::Family::v6;
      const bool is_used = std::ranges::find(outcome.acceptance.prefixes, family, &net::Prefix::family) !=
                           outcome.acceptance.prefixes.end();
      if (empty.table != outcome.rule->spec.table || !is_used) continue;
      out.push_back(fmt::format("{} ({})", holder->name, net::text(family)));
    }
  }
  return out;
}

bool uses_marks(const Holder& holder, const std::vector<SourceMode>& modes) {
  return holder.state->status.dataplane == api::Backend::marks ||
         std::ranges::find(modes, SourceMode::reply) != modes.end();
}

Names strict_devices(std::span<const Holder* const> holders, const std::vector<SourceMode>& modes) {
  Names out;
  for (const Holder* holder : holders) {
    if (!uses_marks(*holder, modes)) continue;
    for (const auto& filter : holder->state->status.facts.reverse_path_filter) {
      if (filter.value == kStrict) out.push_back(fmt::format("{} on {}", filter.device, holder->name));
    }
  }
  return out;
}

// Where a service proxy translates in the kernel, replies carry the pod's address when their route is chosen.
Names behind_proxy(std::span<const Holder* const> holders) {
  Names out;
  for (const Holder* holder : holders) {
    const ServiceProxy proxy = holder->state->status.facts.service_proxy;
    if (proxy == ServiceProxy::unknown || proxy == ServiceProxy::none) continue;
    out.push_back(fmt::format("{} ({})", holder->name, names(proxy)[static_cast<std::size_t>(proxy)]));
  }
  return out;
}

Names without_conntrack(std::span<const Holder* const> holders) {
  Names out;
  for (const Holder* holder : holders) {
    if (holder->state->status.facts.conntrack == false) out.emplace_back(holder->name);
  }
  return out;
}

bool has(const std::vector<SourceMode>& modes, SourceMode mode) {
  return std::ranges::find(modes, mode) != modes.end();
}

meta::Condition verdict(Truth status, std::string reason, std::string message) {
  return {.type = "Effective",
          .status = status,
          .last_transition = {},
          .reason = std::move(reason),
          .message = std::move(message)};
}

}  // namespace

meta::Condition routes_missing(const RuleOutcome& outcome, const NodeReports& reports) {
  meta::Condition out{.type = "RoutesMissing", .status = Truth::unknown};
  const auto holders = reporting(*outcome.rule, reports);
  if (holders.empty()) {
    out.reason = "NoReports";
    out.message = "no node has reported yet";
    return out;
  }
  const Names nodes = without_routes(outcome, holders);
  out.status = nodes.empty() ? Truth::no : Truth::yes;
  out.reason = nodes.empty() ? "RoutesPresent" : "EmptyTable";
  if (!nodes.empty()) {
    out.message = fmt::format(
        "table {} has no route on: {}. Lookups fall through to the main table there; add the routes, for example: ip "
        "route add default via GATEWAY table {}",
        outcome.rule->spec.table, some_of(nodes), outcome.rule->spec.table);
  }
  return out;
}

meta::Condition effective(const RuleOutcome& outcome, const NodeReports& reports, std::uint32_t default_priority) {
  const api::IPRule& rule = *outcome.rule;
  const auto modes = rule.modes();
  const std::uint32_t priority = effective_priority(rule.spec.priority, !rule.spec.vrf.empty(), default_priority);
  if (priority >= kMainPriority) {
    return verdict(Truth::no, "PriorityAfterMain",
                   fmt::format("priority {} comes after the main table, whose default route answers first; set "
                               "spec.priority to 32765 or less",
                               priority));
  }
  const auto holders = reporting(rule, reports);
  if (holders.empty()) return verdict(Truth::unknown, "NoReports", "no node has reported yet");
  if (const Names nodes = without_routes(outcome, holders); !nodes.empty()) {
    return verdict(Truth::no, "RoutesMissing",
                   fmt::format("table {} has no route on: {}", rule.spec.table, some_of(nodes)));
  }
  if (const Names devices = strict_devices(holders, modes); !devices.empty()) {
    return verdict(Truth::no, "StrictReversePath",
                   fmt::format("packets are dropped on arrival: rp_filter is 1 for {}. On the node: sysctl -w "
                               "net.ipv4.conf.DEVICE.rp_filter=2 (IPR0310)",
                               some_of(devices)));
  }
  if (has(modes, SourceMode::reply)) {
    if (const Names nodes = without_conntrack(holders); !nodes.empty()) {
      return verdict(
          Truth::no, "NoConntrack",
          fmt::format("replies are told by the kernel's connection tracking, which is off on: {}", some_of(nodes)));
    }
  }
  const bool only_cluster_ip = std::ranges::all_of(modes, [](SourceMode m) { return m == SourceMode::cluster_ip; });
  if (only_cluster_ip) {
    if (const Names nodes = behind_proxy(holders); !nodes.empty()) {
      return verdict(
          Truth::no, "SourceNeverSeen",
          fmt::format(
              "behind the service proxy no packet carries the cluster address when its route is chosen: {}. Use "
              "the source mode Reply: kubectl patch iprule {} --type=merge -p "
              "'{{\"spec\":{{\"source\":{{\"modes\":[\"Reply\"]}}}}}}'",
              some_of(nodes), rule.meta.name));
    }
    return verdict(Truth::unknown, "SourceNotObserved",
                   "no service proxy of Kubernetes was found on the nodes; whether replies carry the cluster address "
                   "depends on the network plugin (iprulectl doctor looks)");
  }
  return verdict(Truth::yes, "NothingInTheWay", "no fact the nodes report stands in the way");
}

}  // namespace intent
