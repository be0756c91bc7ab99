#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kernel/netlink/events.h"
#include "kernel/netlink/socket.h"
#include "kernel/nft/traced_packets.h"
#include "path/packet.h"

namespace kernel::nft {

// Watches real packets of a flow in the network namespace in which it was opened, by a table of its own beside
// everything else; that goes with this object, or with the process. Packets are neither marked nor sent another way.
class Trace {
 public:
  // Which packets: those with its addresses, protocol, ports and device to come in by, each where it is given; the
  // source 0.0.0.0 or :: is any. Needs CAP_NET_ADMIN, and a kernel that knows tables with an owner (Linux 5.12).
  static base::Result<Trace> open(const path::Packet& flow);

  struct Seen {
    std::vector<TracedPacket> packets{};
    bool lost = false;  // The kernel told more than could be heard or understood: steps, and ends, may be missing.
  };
  // The next `count`, or as many as come by the deadline, each to its end. At most some 20 a second are looked at.
  base::Result<Seen> watch(std::size_t count, base::TimePoint deadline);

  const std::string& table() const { return table_; }

 private:
  Trace(EventSocket events, Socket owner, std::string table)
      : events_(std::move(events)), owner_(std::move(owner)), table_(std::move(table)) {}

  EventSocket events_;
  Socket owner_;  // The table lives as long as it.
  std::string table_;
};

}  // namespace kernel::nft
