#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace cli {

// "1 error", "2 errors"
inline std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace cli
