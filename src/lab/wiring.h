#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "kernel/netlink/socket.h"
#include "net/address.h"
#include "net/prefix.h"

// The rtnetlink requests that build a world. Each speaks of the network namespace that `rtnl` was opened in, and
// names links as people do.
namespace lab {

base::Status add_bridge(kernel::Socket& rtnl, std::string_view name);

// One end here, the other in the network namespace behind `peer_namespace`.
base::Status add_veth(kernel::Socket& rtnl, std::string_view name, std::string_view peer, int peer_namespace);

base::Status attach(kernel::Socket& rtnl, std::string_view link, std::string_view bridge);
base::Status set_up(kernel::Socket& rtnl, std::string_view link, bool up = true);
base::Status remove_link(kernel::Socket& rtnl, std::string_view link);

// An address with the length of its network: 10.0.0.11/24. IPv6 addresses are usable at once: nobody else is there
// to own a duplicate.
struct InterfaceAddress {
  net::Address address;
  int length = 0;

  static InterfaceAddress of(std::string_view text);  // For literals: aborts on anything but ADDRESS/LENGTH.
};
base::Status add_address(kernel::Socket& rtnl, std::string_view link, const InterfaceAddress& address);
base::Status remove_address(kernel::Socket& rtnl, std::string_view link, const InterfaceAddress& address);

struct WorldRoute {
  net::Prefix destination;
  std::optional<net::Address> gateway = {};
  std::string_view link;
  std::uint32_t table = 254;  // main
};
base::Status add_route(kernel::Socket& rtnl, const WorldRoute& route);

struct PacketCount {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};
base::Result<PacketCount> count_packets(kernel::Socket& rtnl, std::string_view link);

// An error that names the route if any default route exists, in whatever table.
base::Status require_no_default_route(kernel::Socket& rtnl);

}  // namespace lab
