#include "lab/sandbox.h"

#include <csignal>
#include <filesystem>
#include <string>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "lab/isolation.h"
#include "testbed/assert_ok.h"
#include "testbed/eventually.h"
#include "testbed/process.h"

namespace testbed {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto kBound = 60s;

Finished probe(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SANDBOX_PROBE);
  auto done = run({.arguments = std::move(arguments)}, kBound);
  EXPECT_TRUE(done) << done.error().message();
  return done ? *std::move(done) : Finished{};
}

// A `sleep` that nobody waits for, told from all others by how long it sleeps.
class Orphan {
 public:
  const std::string& seconds() const { return seconds_; }

  bool runs() const {
    for (const auto& process : fs::directory_iterator("/proc")) {
      const auto arguments = base::read_file(process.path() / "cmdline");
      if (arguments && arguments->starts_with("sleep") && arguments->contains(seconds_)) return true;
    }
    return false;
  }

 private:
  std::string seconds_ = fmt::format("600.{}", ::getpid());
};

TEST(Sandbox, tests_run_inside_one) {
  EXPECT_TRUE(lab::in_sandbox());
  EXPECT_TRUE(lab::require_only_loopback());
}

TEST(Sandbox, the_exit_code_is_the_payloads) {
  EXPECT_EQ(probe({"exit", "0"}).exit.text(), "exit code 0");
  EXPECT_EQ(probe({"exit", "42"}).exit.text(), "exit code 42");
}

TEST(Sandbox, the_signal_is_the_payloads) {
  EXPECT_EQ(probe({"raise", std::to_string(SIGKILL)}).exit.signal, SIGKILL);
  EXPECT_EQ(probe({"raise", std::to_string(SIGTERM)}).exit.signal, SIGTERM);
}

TEST(Sandbox, no_packet_finds_a_way_out) {
  EXPECT_EQ(probe({"connect"}).output, "Network is unreachable\n");
}

TEST(Sandbox, run_is_empty_but_for_our_folders) {
  base::write_file("/run/left-outside", "");
  const std::string entries = probe({"run"}).output;
  EXPECT_TRUE(entries == "netns\ntmp\n" || entries == "tmp\nnetns\n") << entries;
}

TEST(Sandbox, the_payload_is_not_the_init) {
  EXPECT_EQ(probe({"whoami"}).output, "2 0\n");
}

TEST(Sandbox, an_orphan_ends_with_the_payload) {
  const Orphan orphan;
  EXPECT_TRUE(probe({"orphan", orphan.seconds()}).exit.ok());
  EXPECT_TRUE(eventually("the orphan is gone", kBound, [&] { return !orphan.runs(); }));
}

TEST(Sandbox, killing_the_caller_kills_everything_inside) {
  const Orphan orphan;
  auto outer = Process::start({.arguments = {SANDBOX_PROBE, "wait", orphan.seconds()}});
  ASSERT_TRUE(outer);
  ASSERT_TRUE(eventually("inside it runs", kBound, [&] { return outer->output() == "waiting\n" && orphan.runs(); }));
  ::kill(outer->pid(), SIGKILL);  // The caller alone, not its group.
  EXPECT_EQ(outer->wait_exit(kBound)->signal, SIGKILL);
  EXPECT_TRUE(eventually("everything is gone", kBound, [&] { return !orphan.runs(); }));
}

TEST(Sandbox, termination_reaches_the_payload) {
  auto outer = Process::start({.arguments = {SANDBOX_PROBE, "wait", "600"}});
  ASSERT_TRUE(outer);
  ASSERT_TRUE(eventually("inside it runs", kBound, [&] { return outer->output() == "waiting\n"; }));
  ::kill(outer->pid(), SIGTERM);
  EXPECT_EQ(outer->wait_exit(kBound)->signal, SIGTERM);
}

// In a user namespace of its own that allows no further one, and without the right to make any other namespace.
TEST(Sandbox, without_any_right_it_says_what_it_needs) {
  const auto done = run({.arguments = {"unshare", "--user", "--map-root-user", "sh", "-c",
                                       "echo 0 >/proc/sys/user/max_user_namespaces &&"
                                       "exec setpriv --bounding-set -sys_admin \"$0\" whoami",
                                       SANDBOX_PROBE}},
                        kBound);
  ASSERT_OK(done);
  EXPECT_EQ(done->exit.code, 99);
  EXPECT_THAT(done->errors, testing::HasSubstr("need root, or unprivileged user namespaces"));
}

TEST(Sandbox, a_stray_marker_is_ignored) {
  const auto done = run({.arguments = {SANDBOX_PROBE, "connect"}, .environment = {"IPRULE_SANDBOX_REPORT=2"}}, kBound);
  EXPECT_EQ(done->output, "Network is unreachable\n");
}

}  // namespace
}  // namespace testbed
