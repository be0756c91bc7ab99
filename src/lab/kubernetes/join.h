#pragma once

#include "base/result.h"
#include "lab/kubernetes/control_plane.h"
#include "lab/scene.h"
#include "lab/world.h"

namespace lab {

// Gives a host a third leg, link `mgmt` with an address of its own, on which it reaches the cluster's API server by
// plane.url() and the cluster reaches it. `number` is the last part of its addresses, 2 to 254:
// 172.30.77.NUMBER. Returns them.
base::Result<AddressPair> join(World& world, Host& host, const ControlPlane& plane, int number);

}  // namespace lab
