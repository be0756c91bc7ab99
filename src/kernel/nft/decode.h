#pragma once

#include <string_view>

#include "base/result.h"
#include "state/nft_change.h"

namespace kernel::nft {

// Our table from what `list table` prints as JSON. By value and meaning: nft prints masks and sets in other forms than
// it was given. Whatever is not of our making is named as strange: an object, key or statement we do not know, and one
// of ours that is missing or says something else. An error means that the text is no such listing.
base::Result<state::ObservedNft> decode_table(std::string_view json);

}  // namespace kernel::nft
