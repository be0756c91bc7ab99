#include "testbed/process.h"

#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "testbed/eventually.h"
#include "testbed/temp_folder.h"

namespace testbed {
namespace {

using namespace std::chrono_literals;

TEST(Process, outputs_and_exit_code_come_back) {
  const auto done = run({.arguments = {"sh", "-c", "echo out; echo err >&2; exit 3"}}, 10s);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->exit.text(), "exit code 3");
  EXPECT_EQ(done->output, "out\n");
  EXPECT_EQ(done->errors, "err\n");
}

TEST(Process, arguments_are_not_read_by_a_shell) {
  const auto done = run({.arguments = {"echo", "$HOME; *"}}, 10s);
  EXPECT_EQ(done->output, "$HOME; *\n");
}

TEST(Process, environment_is_added_and_wins) {
  const auto done =
      run({.arguments = {"sh", "-c", "echo $COLOUR $PATH"}, .environment = {"COLOUR=red", "PATH=/x"}}, 10s);
  // Found with our PATH, run with its own.
  EXPECT_EQ(done->output, "red /x\n");
}

TEST(Process, input_is_read_to_its_end) {
  const auto done = run({.arguments = {"cat"}, .input = std::string(100'000, 'x')}, 10s);
  EXPECT_EQ(done->output.size(), 100'000U);
}

TEST(Process, a_log_file_is_appended_to) {
  const TempFolder folder;
  const Command command{.arguments = {"sh", "-c", "echo out; echo err >&2"}, .log = folder / "log"};
  ASSERT_TRUE(run(command, 10s));
  ASSERT_TRUE(run(command, 10s));
  EXPECT_EQ(*base::read_file(folder / "log"), "out\nerr\nout\nerr\n");
}

TEST(Process, a_program_that_is_not_there_says_so) {
  const auto done = run({.arguments = {"/no/such/program"}}, 10s);
  EXPECT_EQ(done->exit.code, 127);
  EXPECT_EQ(done->errors, "No such file or directory");
}

TEST(Process, waiting_is_bounded) {
  auto process = Process::start({.arguments = {"sleep", "600"}});
  ASSERT_TRUE(process);
  EXPECT_TRUE(process->running());
  EXPECT_EQ(process->wait_exit(20ms).error().fault(), base::Fault::timeout);
}

TEST(Process, a_run_that_takes_too_long_is_killed_and_quoted) {
  const auto done = run({.arguments = {"sh", "-c", "echo half; sleep 600"}}, 500ms);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().fault(), base::Fault::timeout);
  EXPECT_THAT(done.error().message(), testing::HasSubstr("half"));
}

TEST(Process, kill_ends_the_whole_group) {
  auto process = Process::start({.arguments = {"sh", "-c", "sleep 600 & echo $!; wait"}});
  ASSERT_TRUE(process);
  ASSERT_TRUE(eventually("the grandchild is there", 10s, [&] { return !process->output().empty(); }));
  const std::filesystem::path grandchild = "/proc/" + std::to_string(std::stoi(process->output()));
  process->kill();
  EXPECT_EQ(process->wait_exit(0s)->text(), "signal 9 (Killed)");
  EXPECT_TRUE(eventually("the grandchild is gone", 10s, [&] { return !std::filesystem::exists(grandchild); }));
}

TEST(Process, dropping_it_kills_it) {
  pid_t pid = 0;
  {
    const auto process = Process::start({.arguments = {"sleep", "600"}});
    ASSERT_TRUE(process);
    pid = process->pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

}  // namespace
}  // namespace testbed
