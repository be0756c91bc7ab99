#include "agent/host_network.h"

#include <algorithm>

#include <fmt/format.h>

namespace agent {

std::optional<Doubt> not_the_hosts_network(std::span<const net::Address> addresses, const state::NodeFacts& facts) {
  const auto is_here = [&](const net::Address& address) { return facts.bound.contains(address); };
  if (addresses.empty() || std::ranges::any_of(addresses, is_here)) return std::nullopt;
  return Doubt{.reason = "NotTheHostsNetwork",
               .message = fmt::format("the Node has the address {}, and none of its addresses is here; run the agent "
                                      "with hostNetwork: true",
                                      addresses.front().text())};
}

}  // namespace agent
