#pragma once

#include <vector>

#include "plan/ground.h"
#include "plan/ownership.h"
#include "plan/plan.h"
#include "state/net_state.h"

namespace plan {

// What has to be done for one kind of objects, in order, in the two halves of a plan.
struct Changes {
  std::vector<Op> make{};    // Adds and replacements.
  std::vector<Op> unmake{};  // Removals.
  std::vector<Obstacle> obstacles{};
  RouteTables without{};  // Tables in which a desired route cannot be.
};

// Each of these: what is desired and not there is added; what is ours and differs is replaced, where the kernel can do
// that in one step and the view is verified; what is ours and not desired is removed. A foreign object in the place of
// a desired one stays and is reported.

// A parent before what is on it. A link whose kind or tag differs has to go before it can come anew.
Changes diff_links(const state::NetState& observed, const state::NetState& desired, const Ownership& ownership);
// An address that differs has to go before it can come anew.
Changes diff_addresses(const state::NetState& observed, const state::NetState& desired, const Ownership& ownership);
// Members before their groups.
Changes diff_nexthops(const state::NetState& observed, bool verified, const state::NetState& desired,
                      const Ownership& ownership);
// The longest prefix and the lowest metric first, and last when removed, so that no shorter route answers for a moment
// what a longer one is there for. A route by which a gateway is found comes before all that. A route whose source is no
// address of the node any more goes, although the kernel keeps it: answers to what is sent from there come nowhere.
Changes diff_routes(const state::NetState& observed, bool verified, const state::NetState& desired,
                    const Ownership& ownership);

}  // namespace plan
