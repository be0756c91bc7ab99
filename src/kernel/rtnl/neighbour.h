#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "kernel/netlink/socket.h"
#include "kernel/rtnl/link_table.h"
#include "net/address.h"
#include "net/interface_name.h"

namespace kernel::rtnl {

// What the kernel knows of a neighbour on a link. It asks only when it has something to send.
enum class Answering : std::uint8_t {
  yes,       // It has answered a moment ago, or needs no asking.
  formerly,  // It has answered; whether it still does is not known.
  no,        // It was asked and has not answered.
};

struct Neighbour {
  net::InterfaceName dev;
  net::Address address;
  Answering answering = Answering::formerly;

  bool operator==(const Neighbour&) const = default;
};

// All of them, both families; one of whom nothing was ever asked is not among them.
base::Result<std::vector<Neighbour>> read_neighbours(Socket& socket, const LinkTable& links);

// Nothing where the entry says nothing about an address: bridges and multicast have their own kinds.
base::Result<std::optional<Neighbour>> decode_neighbour(const Received& message, const LinkTable& links);

}  // namespace kernel::rtnl
