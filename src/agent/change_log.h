#pragma once

#include "kernel/engine.h"

namespace agent {

// One line for each change of the kernel that was made. A bulk is cut after the first few hundred, with their number:
// ten thousand lines at a start would hide the rest.
void log_changes(const kernel::Engine::Report& report);

}  // namespace agent
