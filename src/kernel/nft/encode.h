#pragma once

#include "kernel/nft/requests.h"
#include "state/nft_change.h"

namespace kernel::nft {

// The change as requests of one transaction.
Requests encode(const state::NftChange& change);

}  // namespace kernel::nft
