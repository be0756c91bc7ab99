#include "kernel/netlink/events.h"

#include <cerrno>
#include <linux/netlink.h>
#include <sys/socket.h>

namespace kernel {

base::Result<EventSocket> EventSocket::open(Bus bus, std::span<const int> groups, std::size_t buffer) {
  Endpoint endpoint = TRY(Endpoint::open(bus));
  // FORCE goes beyond the system's limit and needs CAP_NET_ADMIN, which whoever changes rules has.
  if (buffer != 0) {
    const auto size = static_cast<int>(buffer);
    const base::Status forced = endpoint.set_option(SOL_SOCKET, SO_RCVBUFFORCE, size);
    // Root of a user namespace may not go beyond the machine's limit; an overrun only means to read all again.
    if (!forced && forced.error().errno_value() != EPERM) return std::unexpected(forced.error());
    if (!forced) TRY(endpoint.set_option(SOL_SOCKET, SO_RCVBUF, size));
  }
  for (const int group : groups) TRY(endpoint.set_option(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group));
  return EventSocket(std::move(endpoint));
}

base::Result<EventSocket::Drained> EventSocket::drain(const std::function<void(const Received&)>& visit) {
  Drained out;
  while (true) {
    const auto datagram = endpoint_.receive({});
    if (!datagram && datagram.error().errno_value() == ENOBUFS) {
      out.lost = true;
      continue;
    }
    if (!datagram) return std::unexpected(datagram.error());
    if (!*datagram) return out;
    for (std::span<const std::byte> rest = **datagram; !rest.empty(); ++out.events) {
      const Received received = TRY(next_message(rest));
      if (visit) visit(received);
    }
  }
}

}  // namespace kernel
