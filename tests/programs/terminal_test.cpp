// What reaches a terminal, and what does not: progress and its width, colours, text that others wrote.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "testbed/process.h"
#include "testbed/temp_folder.h"

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

std::string run(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
  const auto done = testbed::run({.arguments = std::move(arguments), .environment = std::move(environment)}, 300s);
  EXPECT_TRUE(done) << done.error().message();
  return done ? done->output + done->errors : "";
}

// On a pseudo-terminal of so many columns.
std::string on_terminal(const std::string& words, int columns, const std::string& term = "TERM=xterm") {
  return run({"script", "-qec", fmt::format("stty cols {} && '{}' {}", columns, IPRULECTL, words), "/dev/null"},
             {"SHELL=/bin/sh", term});
}

// The longest stretch that is drawn over itself.
std::size_t longest_redrawn(const std::string& text) {
  std::size_t longest = 0;
  for (std::size_t at = text.find('\r'); at != std::string::npos; at = text.find('\r', at + 1)) {
    const std::size_t end = text.find("\x1b[K", at);
    if (end == std::string::npos) break;
    if (text.find('\n', at) > end) longest = std::max(longest, end - at - 1);
  }
  return longest;
}

TEST(Terminal, progress_is_drawn_within_its_width_and_wiped) {
  const std::string shown = on_terminal("lab --scenario faults", 30);
  EXPECT_THAT(shown, HasSubstr("\r[#"));
  EXPECT_GT(longest_redrawn(shown), 20U);
  EXPECT_LE(longest_redrawn(shown), 29U);
  EXPECT_GT(shown.rfind("\r\x1b[K"), shown.rfind("\r[")) << "nothing of it stays";
  EXPECT_THAT(shown, HasSubstr("\x1b[32mright\x1b[0m"));
}

TEST(Terminal, a_pipe_gets_neither_progress_nor_colour_nor_cursor) {
  const std::string piped = run({IPRULECTL, "lab", "--scenario", "faults"}, {"TERM=xterm"});
  EXPECT_THAT(piped, HasSubstr("eth1 lost and back"));
  EXPECT_THAT(piped, Not(HasSubstr("\x1b")));
  EXPECT_THAT(piped, Not(HasSubstr("\r")));
}

TEST(Terminal, one_that_cannot_redraw_gets_no_progress) {
  EXPECT_THAT(on_terminal("lab --scenario uplinks", 80, "TERM=dumb"), Not(HasSubstr("\x1b")));
}

TEST(Terminal, text_that_others_wrote_is_shown_and_not_obeyed) {
  testbed::TempFolder folder;
  const std::string name = R"(a\u001b[2J\n0 errors\u202e)";
  ASSERT_TRUE(base::write_file(
      folder / "x.json",
      fmt::format(R"({{"kind":"IPRule","metadata":{{"name":"{}"}},"spec":{{"cidrs":["{}"],"table":7}}}})", name,
                  name)));
  const std::string shown = on_terminal("analyze --color never -f " + folder.path().native(), 80);
  EXPECT_THAT(shown, HasSubstr("\\x1b[2J"));
  EXPECT_THAT(shown, Not(HasSubstr("\x1b")));
  EXPECT_THAT(shown, Not(HasSubstr("\xe2\x80\xae")));
}

}  // namespace
