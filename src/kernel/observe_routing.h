#pragma once

#include <stop_token>

#include "base/result.h"
#include "kernel/netlink/socket.h"
#include "kernel/observe.h"
#include "state/net_state.h"

namespace kernel {

// Reads links, addresses, nexthops and routes into `into`. True if nothing changed meanwhile. Part of observe().
base::Result<bool> observe_routing(Socket& socket, const ObserveOptions& options, std::stop_token stop,
                                   state::NetState& into);

}  // namespace kernel
