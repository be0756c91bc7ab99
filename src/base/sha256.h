#pragma once

#include <string>
#include <string_view>

namespace base {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view text);

}  // namespace base
