#pragma once

#include "base/clock.h"
#include "kernel/engine.h"

namespace agent {

// One line for each change of the kernel that was made, and how long all of it `took`. A bulk is cut after the first
// few hundred, with their number: ten thousand lines at a start would hide the rest.
void log_changes(const kernel::Engine::Report& report, base::Duration took);

}  // namespace agent
