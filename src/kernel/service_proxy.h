#pragma once

#include "state/net_state.h"
#include "state/node_facts.h"

namespace kernel {

// Who translates Service addresses in the calling thread's namespace, by what it has left there to see. `observed` with
// links. Unknown where something stands that hides it (iptables of the old kind), or where we may not ask.
state::ServiceProxy find_service_proxy(const state::NetState& observed);

}  // namespace kernel
