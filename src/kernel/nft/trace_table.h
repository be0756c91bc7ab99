#pragma once

#include <string_view>

#include "kernel/nft/requests.h"
#include "path/packet.h"

namespace kernel::nft {

// A table that makes the kernel tell of the packets of one flow and does nothing else to them. It belongs to the socket
// that makes it: the kernel removes it when that is closed, whatever way its process ends.
//
// What packets meet first, here or coming in, is chain `pre` or `out`, and the rule there takes those of the flow: its
// addresses, protocol, ports and the device it comes in by, each as far as it is given. So many a second are enough to
// look at, and no more to bear. What they meet last is chain `post` or `in`: from there we hear how they go.
inline constexpr std::string_view kTracePre = "pre";      // prerouting
inline constexpr std::string_view kTraceOut = "out";      // output
inline constexpr std::string_view kTraceForward = "fwd";  // forward: where a packet that changed its number is found.
inline constexpr std::string_view kTracePost = "post";    // postrouting
inline constexpr std::string_view kTraceIn = "in";        // input
inline constexpr std::uint64_t kTracedPerSecond = 20;

Requests trace_table(std::string_view name, const path::Packet& flow);

}  // namespace kernel::nft
