#pragma once

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "kernel/netlink/message.h"
#include "kernel/netlink/socket.h"
#include "kernel/rtnl/link_table.h"
#include "path/packet.h"
#include "path/verdict.h"

namespace kernel::rtnl {

// What the kernel itself would do with the packet now (RTM_GETROUTE, as `ip route get`). "No route" and its like are
// answers; so is "dropped", which stands for a blackhole and for a packet that cannot be: an own or impossible source
// on `iif`, or one that the reverse path filter refuses. Fault::absent for a device that is not there.
base::Result<path::Verdict> ask_route(Socket& socket, const path::Packet& packet, const LinkTable& links);

// Its parts.
base::Result<Message> encode_route_query(const path::Packet& packet, const LinkTable& links);
base::Result<path::Verdict> decode_route_answer(const Received& message, const LinkTable& links);

}  // namespace kernel::rtnl
