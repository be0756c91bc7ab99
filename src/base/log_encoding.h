#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/log.h"

namespace base::log {

enum class Encoding {
  json,
  console,  // For people, and as the old project's controller wrote: time, LEVEL, message, fields; tabs between them.
};

void set_encoding(Encoding encoding);  // Before threads start.

// As format_line(), for people.
std::string format_console_line(Level level, std::string_view time, std::string_view message,
                                std::initializer_list<Field> fields);

}  // namespace base::log
