#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace json {

// The documents of a YAML stream as JSON texts; empty documents are left out. JSON is YAML, so both are read. Plain
// scalars mean what kubectl takes them for (yes, no, on, off are booleans there). Errors name line and column:
// "line 3, column 5: duplicate key". Anchors and merge keys are resolved; a document that they blow up beyond 16 MiB,
// or of more than 100 levels, is refused. Never throws.
base::Result<std::vector<std::string>> from_yaml(std::string_view text);

}  // namespace json
