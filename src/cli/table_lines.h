#pragma once

#include <vector>

#include "cli/examination.h"

namespace cli {

// What each table in use leads to, and whether its gateways answer.
std::vector<Line> table_lines(const Examined& node);

}  // namespace cli
