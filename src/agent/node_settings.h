#pragma once

#include <string_view>

#include "agent/manifests.h"
#include "agent/node_compiler.h"

namespace agent {

// What a folder says of the host besides what to steer: labels and addresses of the Node of that name, and the settings
// of the Agent, where they are there.
NodeSettings settings_of(const Manifests& manifests, std::string_view node);

}  // namespace agent
