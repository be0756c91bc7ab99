#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "base/result.h"
#include "kernel/netlink/socket.h"
#include "state/net_state.h"

namespace cli {

// The kernel of the machine that the command runs on, for looking only.
class ThisHost {
 public:
  static base::Result<ThisHost> open();

  // All rules, links, addresses and nexthops, the routes of every table that a rule looks up, and our nft table. Read
  // as undisturbed as can be: an ordinary user cannot make the kernel wait for those who write, nor see nftables, which
  // `nft_unknown` then says.
  // `tables`: those to be read besides.
  base::Result<state::NetState> observe(std::set<std::uint32_t> tables = {});

  kernel::Socket& socket() { return socket_; }

 private:
  explicit ThisHost(kernel::Socket socket) : socket_(std::move(socket)) {}

  kernel::Socket socket_;
};

}  // namespace cli
