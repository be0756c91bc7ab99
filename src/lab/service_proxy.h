#pragma once

#include "base/result.h"
#include "lab/scene.h"

namespace lab {

// What kube-proxy in its nftables mode does for the node's Service, as far as packets can tell: connections to the VIP
// go to the pod, and their replies carry the pod's address until they leave. Again: as it was.
base::Status translate_vips(const SceneNode& node);

// What a firewall script does that thinks it is alone: every table of the ruleset goes, whoever made it.
base::Status flush_ruleset(const SceneNode& node);

// Likewise for rules, but for those the kernel itself made.
base::Status flush_rules(const SceneNode& node);

}  // namespace lab
