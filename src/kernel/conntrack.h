#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "base/result.h"
#include "kernel/netlink/attribute.h"
#include "net/address.h"

// The connections that this kernel follows, for looking only.
namespace kernel {

// One of them, as far as it says how its replies are routed.
struct Connection {
  net::Address client;  // Who opened it.
  net::Address to;      // Where it went before anybody translated it.
  net::Address
      answerer;  // Whose address a reply carries until it is translated back, which is after its route is chosen.

  bool operator==(const Connection&) const = default;
};

// A message of ctnetlink about one connection.
base::Result<Connection> decode_connection(const Received& message);

// How many connections to an address are answered by whom.
using Answerers = std::map<net::Address, std::size_t>;

// Of every connection to one of `destinations`; what nobody is connected to is not in it. Needs CAP_NET_ADMIN. Reads
// through all that the kernel follows, which are a million at most on common nodes and take about a second then.
base::Result<std::map<net::Address, Answerers>> answerers_of(const std::set<net::Address>& destinations);

}  // namespace kernel
