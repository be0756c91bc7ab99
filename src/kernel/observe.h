#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "kernel/netlink/socket.h"
#include "state/net_state.h"

namespace kernel {

struct ObserveOptions {
  int tries = 8;                   // Dumps per family before giving up on a quiet moment.
  std::size_t expected_rules = 0;  // Room for so many is made at once.
  // Which kinds to read besides rules, all or none: routes, nexthops, addresses and links.
  bool routing = false;
  // Of routes, those with our numbers are read wherever they are, and everybody's in these tables: where somebody wants
  // to have routes, a foreign one may have their place.
  std::vector<std::uint8_t> protocols = {183};
  std::vector<std::uint32_t> tables{};
};

// Reads all rules of both families. A rule dump that races with a change can miss or repeat rules nobody touched, and
// the kernel does not say so; so each dump is bracketed: events drained, dump, a request that waits for the writers'
// lock, events drained again. An event inside means the dump proves nothing, and it is repeated. When no try is quiet
// the last view is returned as Unverified. Links, addresses, nexthops and routes are read together in one bracket,
// where asked for. Must run in the namespace in which `socket` was opened.
base::Result<state::Observation> observe(Socket& socket, std::stop_token stop, const ObserveOptions& options = {});

}  // namespace kernel
