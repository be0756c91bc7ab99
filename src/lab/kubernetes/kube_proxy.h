#pragma once

#include <string>

#include "base/result.h"
#include "lab/host.h"
#include "lab/kubernetes/control_plane.h"

namespace lab {

// The real kube-proxy in a node's namespace, which must have joined the cluster, for the Node of the host's name. Once
// running it writes nftables rules for every Service, soon after each change; wait for what they do. It ends with the
// host.
base::Result<Process*> start_kube_proxy(ControlPlane& plane, Host& node);

}  // namespace lab
