#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/scene.h"

namespace cli {

// The IPRule public-eu with one source mode.
std::string lab_rule(std::string_view mode);

// The Service of every node, with the load balancer's addresses in its status.
std::string lab_services(const std::vector<lab::SceneNode>& nodes);

// So many Services, in addresses that nobody talks to.
std::string lab_more_services(int count);

}  // namespace cli
