#include "base/log.h"

#include <gtest/gtest.h>

#include "base/log_encoding.h"

namespace base::log {
namespace {

TEST(Log, a_line_is_one_json_object_whatever_the_values_hold) {
  EXPECT_EQ(
      format_line(Level::warning, "2026-01-02T03:04:05.006Z", "say \"hi\"", {{"path", "a\\b\n\x01"}, {"n", "7"}}),
      R"({"time":"2026-01-02T03:04:05.006Z","level":"warning","msg":"say \"hi\"","path":"a\\b\n\u0001","n":"7"})");
}

TEST(Log, a_console_line_is_for_people_and_still_one_line) {
  EXPECT_EQ(format_console_line(Level::warning, "2026-01-02T03:04:05.006Z", "lost", {{"why", "a\nb"}, {"n", "7"}}),
            "2026-01-02T03:04:05.006Z\tWARN\tlost\t{\"why\":\"a\\nb\",\"n\":\"7\"}");
  EXPECT_EQ(format_console_line(Level::info, "T", "started", {}), "T\tINFO\tstarted");
}

TEST(Log, unknown_level_is_refused_with_the_choices) {
  EXPECT_EQ(*parse_level("debug"), Level::debug);
  const auto wrong = parse_level("loud");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message(), "log level \"loud\": use debug, info, warning or error");
}

}  // namespace
}  // namespace base::log
