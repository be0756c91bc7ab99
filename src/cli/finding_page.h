#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/answer.h"

namespace cli {

// The codes that have a page in docs/findings, in order.
std::vector<std::string> finding_codes();

// "two tables for one source at one priority"; empty for an unknown code.
std::string_view finding_title(std::string_view code);

// The page of a code: what it means, an example, the cure. Codes may be written in small letters.
base::Result<Answer> explain_code(std::string_view code);

}  // namespace cli
