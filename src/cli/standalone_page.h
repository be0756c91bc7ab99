#pragma once

#include "agent/standalone_status.h"
#include "cli/answer.h"

namespace cli {

// What the standalone agent of a host says of itself; `runs`: it is there to say it. What a dead one said last is
// shown, and is not good news.
Answer show_standalone(const agent::StandaloneStatus& status, bool runs);

}  // namespace cli
