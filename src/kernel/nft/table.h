#pragma once

#include "base/result.h"
#include "kernel/netlink/socket.h"
#include "state/nft_change.h"

// Our table in the kernel. `socket` is one of Bus::netfilter.
namespace kernel::nft {

// What is there under our table's name, at one instant. Reads every element, so it is for the start, the slow audit,
// and the time after somebody else touched the table; not for deciding what to write. Of its errors is_missing() holds
// only where the kernel has no nftables.
base::Result<state::ObservedNft> observe(Socket& socket);

// Makes the change, in transactions that each leave every packet's meaning as it was or as it shall be. After an error
// the table is in the kernel as one of them left it.
base::Status apply(Socket& socket, const state::NftChange& change);

}  // namespace kernel::nft
