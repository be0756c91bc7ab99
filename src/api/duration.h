#pragma once

#include <chrono>
#include <string_view>

#include "base/result.h"

namespace api {

// As Go writes times: "10s", "1m30s", "1.5h", "250ms". No sign, at most a year.
base::Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

}  // namespace api
