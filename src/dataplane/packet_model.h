#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "net/address.h"
#include "state/nft_table.h"
#include "state/rule.h"

// For property tests: what the kernel does with a packet, as far as steering goes.
namespace dataplane::model {

struct Packet {
  net::Address source{};                   // As it is when the route is chosen.
  bool from_node = false;                  // Sent by the node itself: not seen in prerouting.
  std::optional<net::Address> reply_of{};  // The original destination of the connection it answers.
  net::Address client{};                   // Who opened that connection.
};

// Tables that have a route for the packet, and how main knows it.
struct Routes {
  std::set<std::uint32_t> tables{};
  bool main_is_precise = false;  // By more than its default route.
};

struct Node {
  std::vector<state::Rule> rules{};  // In walk order.
  std::optional<state::NftTable> table{};
};

inline std::uint32_t mark_of(const Packet& packet, const std::optional<state::NftTable>& table) {
  if (!table) return 0;
  std::uint32_t mark = 0;
  const auto inside = [&](const net::Prefix& prefix) { return prefix.contains(packet.client); };
  if (packet.reply_of && std::ranges::none_of(table->own, inside)) {
    if (const auto vip = table->vips.find(*packet.reply_of); vip != table->vips.end()) mark = vip->second;
  }
  if (packet.from_node) return mark;
  if (const auto source = table->sources.find(packet.source); source != table->sources.end()) {
    const auto& joins = table->classes.at(source->second).joins;
    const auto both = joins.find(mark);
    mark = both != joins.end() ? both->second : source->second;
  }
  return mark;
}

// The table that answers; main where no rule of ours does.
inline std::uint32_t lookup(const Packet& packet, const Routes& routes, const Node& node) {
  const std::uint32_t mark = mark_of(packet, node.table);
  for (const state::Rule& rule : node.rules) {
    if (rule.family != packet.source.family()) continue;
    if (rule.selector.from && !rule.selector.from->contains(packet.source)) continue;
    if (rule.selector.mark && (mark & rule.selector.mark->mask) != rule.selector.mark->value) continue;
    if (rule.table == state::kTableMain && rule.suppress_prefixlength && !routes.main_is_precise) continue;
    if (rule.table == state::kTableMain || routes.tables.contains(rule.table)) return rule.table;
  }
  return state::kTableMain;
}

}  // namespace dataplane::model
