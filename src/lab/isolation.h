#pragma once

#include "base/result.h"

namespace lab {

// Both speak of the calling thread's network namespace.
base::Status raise_loopback();

// An error that names the link if any link but loopback is up: packets could leave.
base::Status require_only_loopback();

}  // namespace lab
