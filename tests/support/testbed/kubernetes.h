#pragma once

#include <filesystem>

#include "base/result.h"

namespace testbed {

// The program that is every Kubernetes program: `kubernetes kubectl ...`. From the environment variable
// IPRULE_KUBERNETES, or asked of .ci/kubernetes, which must have built it before: the sandbox cannot download.
base::Result<std::filesystem::path> kubernetes_program();

}  // namespace testbed
