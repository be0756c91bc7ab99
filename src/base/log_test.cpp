#include "base/log.h"

#include <gtest/gtest.h>

namespace base::log {
namespace {

constexpr const char* kTime = "2026-01-02T03:04:05.006Z";

TEST(Log, a_line_is_one_json_object_whatever_the_values_hold) {
  EXPECT_EQ(format_line({.logger = "agent", .always = {{"node", "worker-1"}}}, Level::warning, kTime, "say \"hi\"",
                        {{"path", "a\\b\n\x01"}, {"took_ms", 7}}),
            R"({"ts":"2026-01-02T03:04:05.006Z","level":"warn","logger":"agent","msg":"say \"hi\"",)"
            R"("path":"a\\b\n\u0001","took_ms":7,"node":"worker-1"})");
}

TEST(Log, bytes_that_are_not_utf8_do_not_spoil_a_line) {
  EXPECT_EQ(format_line({}, Level::info, "T", "read",
                        {{"name",
                          "a\xff"
                          "b"}}),
            "{\"ts\":\"T\",\"level\":\"info\",\"logger\":\"iprule\",\"msg\":\"read\",\"name\":\"a\xef\xbf\xbd"
            "b\"}");
}

TEST(Log, a_console_line_is_for_people_and_still_one_line) {
  const Style style{.logger = "controller", .encoding = Encoding::console};
  EXPECT_EQ(format_line(style, Level::warning, kTime, "lost", {{"why", "a\nb"}, {"n", 7}}),
            "2026-01-02T03:04:05.006Z\tWARN\tcontroller\tlost\t{\"why\":\"a\\nb\",\"n\":7}");
  EXPECT_EQ(format_line(style, Level::info, "T", "started", {}), "T\tINFO\tcontroller\tstarted");
}

TEST(Log, unknown_level_is_refused_with_the_choices) {
  EXPECT_EQ(*parse_level("debug"), Level::debug);
  EXPECT_EQ(*parse_level("warning"), Level::warning);
  EXPECT_EQ(*parse_level("warn"), Level::warning);
  const auto wrong = parse_level("loud");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message(), "log level \"loud\": use debug, info, warning or error");
}

}  // namespace
}  // namespace base::log
