#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/scene.h"

namespace cli {

// What the nodes of the lab are asked for: the IPRule public-eu with one source mode, the Service of every node, and as
// many more Services as the story needs, in addresses that nobody talks to.
std::string lab_manifests(const std::vector<lab::SceneNode>& nodes, std::string_view mode, int more_services = 0);

}  // namespace cli
