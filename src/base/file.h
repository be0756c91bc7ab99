#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace base {

// The whole file; more than `limit` bytes is an error, so that a device or a mistake cannot fill the memory.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit = 16U << 20U);

// Replaces the contents in place; for files nobody reads while they are written (/proc, a folder of our own).
Status write_file(const std::filesystem::path& path, std::string_view contents);

}  // namespace base
