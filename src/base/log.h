#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"

namespace base::log {

enum class Level { debug, info, warning, error };

Result<Level> parse_level(std::string_view text);
void set_level(Level level);  // Before threads start.
bool is_logged(Level level);  // For lines that are dear to make.

// One named value of a line.
struct Field {
  std::string_view name;
  std::string value;
};

// One JSON object per line on standard error, values escaped. Only loops and mains log; library code returns errors.
// Safe from any thread; a line is written whole.
void debug(std::string_view message, std::initializer_list<Field> fields = {});
void info(std::string_view message, std::initializer_list<Field> fields = {});
void warning(std::string_view message, std::initializer_list<Field> fields = {});
void error(std::string_view message, std::initializer_list<Field> fields = {});

// The line for a message, without the newline: what the functions above write at `time` (RFC 3339).
std::string format_line(Level level, std::string_view time, std::string_view message,
                        std::initializer_list<Field> fields);

}  // namespace base::log
