#pragma once

#include <string>

#include "json/reader.h"

namespace json {

// The value as YAML that from_yaml() reads back as the same; every string that is not plainly a word is quoted.
std::string to_yaml(const Value& value);

}  // namespace json
