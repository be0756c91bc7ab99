#pragma once

#include <cstddef>
#include <stop_token>

#include "base/result.h"
#include "plan/ownership.h"

namespace agent {

// Takes everything of ours out of this host's kernel and reads back that it is gone. How much it was; an error if
// something is left.
base::Result<std::size_t> purge(const plan::Ownership& ownership, std::stop_token stop);

}  // namespace agent
