#include "base/log.h"

#include <atomic>
#include <chrono>
#include <span>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/json_string.h"
#include "base/log_outlet.h"

namespace base::log {
namespace {

std::atomic<Level> threshold{Level::info};

// Never destroyed: threads may have something to say until the very end.
Style& style() {
  static Style& present = *new Style();
  return present;
}

// As zap names them, which reads "warning", too.
std::string_view name(Level level) {
  switch (level) {
    case Level::debug:
      return "debug";
    case Level::info:
      return "info";
    case Level::warning:
      return "warn";
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

void append_fields(std::string& line, std::span<const Field> fields) {
  for (const Field& field : fields) {
    if (line.back() != '{') line += ',';
    append_json_string(line, field.name);
    line += ':';
    if (field.is_number) {
      line += field.value;
    } else {
      append_json_string(line, field.value);
    }
  }
}

std::string json_line(const Style& style, Level level, std::string_view time, std::string_view message,
                      std::span<const Field> fields) {
  std::string line = fmt::format(R"({{"ts":"{}","level":"{}","logger":)", time, name(level));
  append_json_string(line, style.logger);
  line += ",\"msg\":";
  append_json_string(line, message);
  append_fields(line, fields);
  append_fields(line, style.always);
  line += '}';
  return line;
}

std::string console_line(const Style& style, Level level, std::string_view time, std::string_view message,
                         std::span<const Field> fields) {
  std::string line = fmt::format("{}\t{}\t{}\t{}", time, console_name(level), style.logger, message);
  if (fields.empty() && style.always.empty()) return line;
  line += "\t{";
  append_fields(line, fields);
  append_fields(line, style.always);
  line += '}';
  return line;
}

std::string now() {
  const auto time = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto millis = time.time_since_epoch() % std::chrono::seconds(1);
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(time)), millis.count());
}

std::string line_of(Level level, std::string_view message, std::initializer_list<Field> fields) {
  return format_line(style(), level, now(), message, fields) + '\n';
}

// Never destroyed, as the style.
Outlet& outlet() {
  static Outlet& present = *new Outlet([](std::size_t lost) {
    return line_of(Level::warning, "lines were lost: nobody has read them in time", {{"lines", lost}});
  });
  return present;
}

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (!is_logged(level)) return;
  outlet().put(style().to_stdout ? STDOUT_FILENO : STDERR_FILENO, line_of(level, message, fields));
}

}  // namespace

Result<Level> parse_level(std::string_view text) {
  if (text == "warning") return Level::warning;
  for (const Level level : {Level::debug, Level::info, Level::warning, Level::error}) {
    if (text == name(level)) return level;
  }
  return fail(Fault::invalid, fmt::format("log level \"{}\": use debug, info, warning or error", text));
}

void set_style(Style chosen) {
  style() = std::move(chosen);
}

bool is_logged(Level level) {
  return level >= threshold.load(std::memory_order_relaxed);
}

void set_level(Level level) {
  threshold.store(level, std::memory_order_relaxed);
}

std::string format_line(const Style& style, Level level, std::string_view time, std::string_view message,
                        std::initializer_list<Field> fields) {
  const std::span<const Field> given(fields.begin(), fields.size());
  return style.encoding == Encoding::json ? json_line(style, level, time, message, given)
                                          : console_line(style, level, time, message, given);
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
