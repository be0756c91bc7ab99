#pragma once

#include "dataplane/steering.h"

namespace dataplane {

// Rules and nftables table for everything that shall be steered on one node. Pure: the same input, in any order, gives
// the same output. The marks of Steering must lie in its window.
//
// Whether a source is steered by `from` rules or by marks never shows in a lookup: a class has the rules of its path at
// the same priorities, so tables without a route pass packets on in the same order, and where a source and a reply
// match one packet the lower priority number wins in both.
Compiled compile(const Steering& steering);

}  // namespace dataplane
