#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/listing.h"
#include "cli/status.h"
#include "meta/time.h"

namespace cli {

// A row for each node and nothing folded: what its agent reported. `nodes`: those that are meant, also where they have
// no report; empty: all that have one. Whoever is not in sync is worth attention.
base::Result<Answer> show_nodes(const ClusterFacts& facts, const std::vector<std::string>& nodes, meta::Time now,
                                const ListStyle& style);

}  // namespace cli
