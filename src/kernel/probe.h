#pragma once

#include <cstdint>

#include "kernel/netlink/socket.h"
#include "state/node_facts.h"

namespace kernel {

// What this kernel can, found out by trying, because versions do not say: distributions take features back and leave
// modules out. Nothing is left behind, and nobody's packets are touched on the way. To be called where `socket` was
// opened; `protocol` is the number under which our rules go.
state::Capabilities probe(Socket& socket, std::uint8_t protocol);

}  // namespace kernel
