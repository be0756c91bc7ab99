#include "base/log.h"

#include <atomic>
#include <chrono>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/log_encoding.h"

namespace base::log {
namespace {

std::atomic<Level> threshold{Level::info};
std::atomic<Encoding> encoding{Encoding::json};

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

std::string_view console_name(Level level) {
  switch (level) {
    case Level::debug:
      return "DEBUG";
    case Level::info:
      return "INFO";
    case Level::warning:
      return "WARN";
    case Level::error:
      return "ERROR";
  }
  return "ERROR";
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

void append_fields(std::string& line, std::initializer_list<Field> fields, std::string_view before_first) {
  for (const Field& field : fields) {
    line += &field == fields.begin() ? before_first : ",";
    append_string(line, field.name);
    line += ':';
    append_string(line, field.value);
  }
}

std::string now() {
  const auto time = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto millis = time.time_since_epoch() % std::chrono::seconds(1);
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(time)), millis.count());
}

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (level < threshold.load(std::memory_order_relaxed)) return;
  const auto format = encoding.load(std::memory_order_relaxed) == Encoding::json ? format_line : format_console_line;
  std::string line = format(level, now(), message, fields);
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

void set_encoding(Encoding chosen) {
  encoding.store(chosen, std::memory_order_relaxed);
}

bool is_logged(Level level) {
  return level >= threshold;
}

void set_level(Level level) {
  threshold.store(level, std::memory_order_relaxed);
}

std::string format_line(Level level, std::string_view time, std::string_view message,
                        std::initializer_list<Field> fields) {
  std::string line = fmt::format(R"({{"time":"{}","level":"{}","msg":)", time, name(level));
  append_string(line, message);
  append_fields(line, fields, ",");
  line += '}';
  return line;
}

std::string format_console_line(Level level, std::string_view time, std::string_view message,
                                std::initializer_list<Field> fields) {
  std::string line = fmt::format("{}\t{}\t{}", time, console_name(level), message);
  if (fields.size() == 0) return line;
  append_fields(line, fields, "\t{");
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
