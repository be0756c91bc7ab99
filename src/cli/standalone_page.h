#pragma once

#include "agent/standalone_status.h"
#include "cli/answer.h"

namespace cli {

// What the standalone agent of a host says of itself.
Answer show_standalone(const agent::StandaloneStatus& status);

}  // namespace cli
