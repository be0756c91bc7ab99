#pragma once

#include <cstdint>

#include "intent/cluster/small_cluster.h"

namespace bench {

// The Services and IPRules of many_services() on `nodes` nodes, after everything has been published, done and
// acknowledged: the controller has nothing to do.
intent::SmallCluster settled_cluster(std::uint32_t services, std::uint32_t rules, std::uint32_t nodes);

}  // namespace bench
