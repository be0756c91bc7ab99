#pragma once

#include <chrono>

#include "base/clock.h"

namespace controller {

inline constexpr base::Duration kEcho = std::chrono::milliseconds(50);  // For the watch to bring what we wrote.
inline constexpr base::Duration kResync = std::chrono::minutes(5);      // The backstop; watches tell everything else.

}  // namespace controller
