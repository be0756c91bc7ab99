#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace json {

// The documents of a YAML stream as JSON texts; empty documents are left out. JSON is YAML, so both are read. Plain
// scalars mean what kubectl takes them for (yes, no, on, off are booleans there). Errors begin with line and column:
// "3:5: duplicate key". Anchors and merge keys are resolved; a document that they blow up beyond 16 MiB,
// or of more than 100 levels, is refused. Never throws.
base::Result<std::vector<std::string>> from_yaml(std::string_view text);

struct Place {
  int line = 0;  // From 1, as editors count.
  int column = 0;

  bool operator==(const Place&) const = default;
};

// Where a field of the n-th document that from_yaml() returned stands: its value if that is a plain one, else its key;
// of a field that is not there, the nearest one above it. `path` as in json::Value::path(): "spec.cidrs[2]". Nothing
// for what came in by an alias.
std::optional<Place> locate(std::string_view text, std::size_t document, std::string_view path);

}  // namespace json
