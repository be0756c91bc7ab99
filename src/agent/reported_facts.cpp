#include "agent/reported_facts.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <vector>

namespace agent {
namespace {

using api::NodeState;

// The tables whose IPv4 routes lead out by the device; rp_filter is a matter of IPv4 alone.
std::vector<std::uint32_t> tables_by(const net::InterfaceName& device, const state::NodeFacts& facts) {
  std::vector<std::uint32_t> out;
  for (const state::TableUse& use : facts.tables) {
    if (use.family == net::Family::v4 && use.devices.contains(device)) out.push_back(use.table);
  }
  if (out.size() > NodeState::kMaxTables) out.resize(NodeState::kMaxTables);
  return out;
}

void describe_devices(const state::NodeFacts& facts, NodeState::Facts& out) {
  for (const auto& [device, value] : facts.reverse_path_filter | std::views::take(NodeState::kMaxDevices)) {
    out.reverse_path_filter.push_back(
        {.device = std::string(device.text()), .value = value, .tables = tables_by(device, facts)});
  }
  for (const auto& [device, table] : facts.vrfs) {
    const bool is_used = std::ranges::find(facts.tables, table, &state::TableUse::table) != facts.tables.end();
    if (is_used && out.vrfs.size() < NodeState::kMaxDevices) {
      out.vrfs.push_back({.device = std::string(device.text()), .table = table});
    }
  }
}

}  // namespace

// Service proxies have the same names there.
NodeState::Facts reported(const state::NodeFacts& facts) {
  const auto names = api::names(api::ServiceProxy());
  const auto proxy = std::ranges::find(names, state::text(facts.service_proxy));
  NodeState::Facts out{.kernel = facts.kernel,
                       .service_proxy = static_cast<api::ServiceProxy>(proxy - names.begin()),
                       .conntrack = facts.conntrack,
                       .local_rule_priority = facts.local_rule_priority,
                       .reverse_path_filter = {},
                       .vrfs = {},
                       .capabilities = {.rule_protocol = facts.capabilities.rule_protocol,
                                        .nexthop_objects = facts.capabilities.nexthop_objects,
                                        .address_protocol = facts.capabilities.address_protocol,
                                        .nft_maps = facts.capabilities.nft_maps,
                                        .ct_original = facts.capabilities.ct_original}};
  describe_devices(facts, out);
  return out;
}

}  // namespace agent
