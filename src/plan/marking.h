#pragma once

#include "plan/objects.h"
#include "plan/plan.h"
#include "state/net_state.h"

namespace plan {

// The change of our nft table, one operation or none. A table that is wanted and wrong in itself, or whose present
// state is not known, is an obstacle.
Changes diff_nft(const state::NetState& observed, const state::NetState& desired);

// Whether `op` must have been done before the change: a packet would else bear a mark that no rule knows yet, or lose
// its mark before the rule that takes its place is there.
bool is_needed_before(const Op& op, const state::NftChange& change);

// Whether `op` must wait for the change: it removes a rule by which packets still find their way.
bool must_wait_for(const Op& op, const state::NftChange& change);

}  // namespace plan
