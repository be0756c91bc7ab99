#include "path/marking.h"

#include <algorithm>

namespace path {

// The order is that of the table's chains: replies first, then sources, which are looked at only where a packet comes
// in; a source's class that meets the mark of a reply may have a class for both.
std::uint32_t marked(const state::NftTable& table, const Packet& packet, const std::optional<net::Address>& reply_of) {
  std::uint32_t mark = packet.mark;
  const auto set = [&](std::uint32_t value) { mark = (mark & ~table.window) | value; };
  const bool client_is_own =
      std::ranges::any_of(table.own, [&](const net::Prefix& prefix) { return prefix.contains(packet.to); });
  if (reply_of && !client_is_own) {
    if (const auto found = table.vips.find(*reply_of); found != table.vips.end()) set(found->second);
  }
  const auto found = packet.iif.empty() ? table.sources.end() : table.sources.find(packet.from);
  if (found == table.sources.end()) return mark;
  std::uint32_t value = found->second;
  if (const auto known = table.classes.find(value); known != table.classes.end()) {
    const auto join = known->second.joins.find(mark & table.window);
    if (join != known->second.joins.end()) value = join->second;
  }
  set(value);
  return mark;
}

}  // namespace path
