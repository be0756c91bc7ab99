#pragma once

#include <cstdint>
#include <linux/rtnetlink.h>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/message.h"
#include "kernel/rtnl/link_table.h"
#include "state/route.h"

// The ways out of a route on the wire: one as attributes of the route itself, several in RTA_MULTIPATH. Part of
// route.cpp.
namespace kernel::rtnl {

// Flags that report on a hop and are no part of it.
inline constexpr std::uint32_t kHopStatusFlags = RTNH_F_DEAD | RTNH_F_OFFLOAD | RTNH_F_LINKDOWN | RTNH_F_TRAP;

base::Status put_hops(Message& message, net::Family family, std::span<const state::RouteHop> hops,
                      const LinkTable& links);

struct HopReading {
  state::RouteHop hop{};
  std::string unknown{};  // The first thing that was not understood.
};

// False if it is no attribute of a hop, or one we do not know.
base::Result<bool> read_hop_attribute(HopReading& reading, const Attribute& attribute, net::Family family,
                                      const LinkTable& links);

base::Result<std::vector<state::RouteHop>> read_multipath(std::span<const std::byte> rest, net::Family family,
                                                          const LinkTable& links, std::string& unknown);

}  // namespace kernel::rtnl
