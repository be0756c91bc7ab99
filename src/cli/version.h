#pragma once

#include <string_view>

#include "cli/answer.h"

namespace cli {

// This program's own version.
Answer show_version(std::string_view program);

}  // namespace cli
