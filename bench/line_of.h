#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "lab/process.h"

namespace bench {

// What a program said behind `word`, to the end of that line; waits until it has been said.
base::Result<std::string> line_of(lab::Process& process, std::string_view word);

}  // namespace bench
