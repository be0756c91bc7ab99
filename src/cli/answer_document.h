#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/answer.h"

namespace cli {

// An answer on its way from the host that found it to the person who asked, on one line. What arrives is printed like
// any text that others wrote: it cannot reach the terminal raw.
std::string encode(const Answer& answer);
base::Result<Answer> decode_answer(std::string_view text);

}  // namespace cli
