#pragma once

#include "base/result.h"
#include "kernel/nft/context.h"
#include "state/nft_change.h"

namespace kernel::nft {

// What is in the kernel under our table's name. Lists every element: some 3 us each, so it is for the start, the slow
// audit, and the time after somebody else touched the table; not for deciding what to write.
base::Result<state::ObservedNft> observe(Context& context);

// Makes the change, in transactions that each leave every packet's meaning as it was or as it shall be. After an error
// the table is in the kernel as one of them left it.
base::Status apply(Context& context, const state::NftChange& change);

}  // namespace kernel::nft
