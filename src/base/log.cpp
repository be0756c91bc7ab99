#include "base/log.h"

#include <atomic>
#include <chrono>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace base::log {
namespace {

std::atomic<Level> threshold{Level::info};

std::string_view name(Level level) {
  switch (level) {
    case Level::debug:
      return "debug";
    case Level::info:
      return "info";
    case Level::warning:
      return "warning";
    case Level::error:
      return "error";
  }
  return "error";
}

void append_string(std::string& line, std::string_view text) {
  line += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        line += "\\\"";
        break;
      case '\\':
        line += "\\\\";
        break;
      case '\n':
        line += "\\n";
        break;
      case '\t':
        line += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(line), "\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          line += c;
        }
    }
  }
  line += '"';
}

std::string now() {
  const auto time = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto millis = time.time_since_epoch() % std::chrono::seconds(1);
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(time)), millis.count());
}

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (level < threshold.load(std::memory_order_relaxed)) return;
  std::string line = format_line(level, now(), message, fields);
  line += '\n';
  // One write is one line, whole. A full or closed pipe loses lines and never delays the caller's work for long.
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

Result<Level> parse_level(std::string_view text) {
  for (const Level level : {Level::debug, Level::info, Level::warning, Level::error}) {
    if (text == name(level)) return level;
  }
  return fail(Fault::invalid, fmt::format("log level \"{}\": use debug, info, warning or error", text));
}

void set_level(Level level) {
  threshold.store(level, std::memory_order_relaxed);
}

std::string format_line(Level level, std::string_view time, std::string_view message,
                        std::initializer_list<Field> fields) {
  std::string line = fmt::format(R"({{"time":"{}","level":"{}","msg":)", time, name(level));
  append_string(line, message);
  for (const Field& field : fields) {
    line += ',';
    append_string(line, field.name);
    line += ':';
    append_string(line, field.value);
  }
  line += '}';
  return line;
}

void debug(std::string_view message, std::initializer_list<Field> fields) {
  write(Level::debug, message, fields);
}
void info(std::string_view message, std::initializer_list<Field> fields) {
  write(Level::info, message, fields);
}
void warning(std::string_view message, std::initializer_list<Field> fields) {
  write(Level::warning, message, fields);
}
void error(std::string_view message, std::initializer_list<Field> fields) {
  write(Level::error, message, fields);
}

}  // namespace base::log
