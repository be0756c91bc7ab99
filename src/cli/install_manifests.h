#pragma once

#include <string>

namespace cli {

// dist/install.yaml, as of this build.
std::string install_manifests();

}  // namespace cli
