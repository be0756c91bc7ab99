#pragma once

#include <chrono>
#include <cstddef>

#include "base/result.h"
#include "cli/page.h"
#include "json/writer.h"
#include "kernel/nft/trace.h"
#include "kernel/rtnl/link_table.h"
#include "path/packet.h"
#include "path/verdict.h"

namespace cli {

// How many real packets of a flow to watch, and for how long at most.
struct LiveWish {
  static constexpr int kMostPackets = 100;
  static constexpr std::chrono::seconds kMostPatience{600};

  int packets = 1;
  std::chrono::seconds patience{10};

  bool operator==(const LiveWish&) const = default;
};

// What was seen of them on this host.
struct LiveSight {
  LiveWish wish{};
  kernel::nft::Trace::Seen seen{};
  kernel::rtnl::LinkTable links{};
};

// Waits for packets with the flow's addresses, protocol, ports and device to come in by, as far as those are given.
base::Result<LiveSight> watch_live(const path::Packet& flow, const LiveWish& wish, kernel::rtnl::LinkTable links);

// How many went otherwise than the walk over rules and routes says. Of one whose end may have been lost nobody knows.
std::size_t strays(const LiveSight& sight, const path::Verdict& walked);

// Each packet, chain by chain.
void show_live(Page& page, const LiveSight& sight, const path::Verdict& walked);
void put_live(json::Object& out, const LiveSight& sight, const path::Verdict& walked);

}  // namespace cli
