#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace base::log {

enum class Level { debug, info, warning, error };
enum class Encoding {
  json,
  console,  // For people, and as the old project's controller wrote: time, LEVEL, logger, message, fields; tabs
            // between.
};

Result<Level> parse_level(std::string_view text);
void set_level(Level level);  // Before threads start.
bool is_logged(Level level);  // For lines that are dear to make.

// One named value of a line. Names that always mean the same: `err` what went wrong, `node`, `epoch`, `code` of a
// finding, `took_ms`.
struct Field {
  Field(std::string_view field, std::string text) : name(field), value(std::move(text)) {}
  Field(std::string_view field, std::integral auto number)
      : name(field), value(std::to_string(number)), is_number(true) {}

  std::string_view name;
  std::string value;
  bool is_number = false;
};

// How a program writes its lines. One that says nothing writes JSON on standard error, as "iprule".
struct Style {
  std::string logger = "iprule";  // Which program, or which part of it.
  std::vector<Field> always{};    // On every line.
  Encoding encoding = Encoding::json;
  bool to_stdout = false;  // For services, whose lines are all they print.
};
void set_style(Style style);  // Before threads start.

// One line each, values escaped. Only loops and mains log; library code returns errors. Messages are constant texts:
// what varies is a field. Safe from any thread; a line is written whole.
void debug(std::string_view message, std::initializer_list<Field> fields = {});
void info(std::string_view message, std::initializer_list<Field> fields = {});
void warning(std::string_view message, std::initializer_list<Field> fields = {});
void error(std::string_view message, std::initializer_list<Field> fields = {});

// The line for a message, without the newline: what the functions above write at `time` (RFC 3339).
std::string format_line(const Style& style, Level level, std::string_view time, std::string_view message,
                        std::initializer_list<Field> fields);

}  // namespace base::log
