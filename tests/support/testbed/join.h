#pragma once

#include "base/result.h"
#include "lab/world.h"
#include "testbed/cluster.h"

namespace testbed {

// Gives a host a third leg, link `mgmt` with an address of its own, on which it reaches the cluster's API server by
// cluster.url() and the cluster reaches it. `number` is the last part of the address, 2 to 254: 172.30.77.NUMBER.
base::Status join(lab::World& world, lab::Host& host, const Cluster& cluster, int number);

}  // namespace testbed
