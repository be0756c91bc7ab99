#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace meta {

// Kubernetes writes times to the second. The epoch itself stands for "no time".
using Time = std::chrono::sys_seconds;

// RFC 3339: "2026-01-31T10:00:00Z"; fractions are cut, offsets are applied.
base::Result<Time> parse_time(std::string_view text);
std::string format_time(Time time);

}  // namespace meta
