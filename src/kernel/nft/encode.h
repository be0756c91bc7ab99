#pragma once

#include <string>

#include "state/nft_change.h"

namespace kernel::nft {

// The change as JSON commands of libnftables, one transaction. Names our table and no other.
std::string encode(const state::NftChange& change);

}  // namespace kernel::nft
