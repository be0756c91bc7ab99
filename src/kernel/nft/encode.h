#pragma once

#include <string>

#include "state/nft_change.h"

namespace kernel::nft {

// The change in the words of nft, one transaction. Names our table and no other. Words, because the library reads a
// list of elements in them faster than as JSON.
std::string encode(const state::NftChange& change);

}  // namespace kernel::nft
