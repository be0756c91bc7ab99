// `iprulectl lab`: a world of network namespaces with real packets, and nothing of it left.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <sys/mount.h>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "testbed/eventually.h"
#include "testbed/process.h"

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr auto kBound = 300s;  // Minutes only where a sanitizer and busy neighbours come together.

testbed::Finished lab(std::vector<std::string> flags, std::string input = "") {
  flags.insert(flags.begin(), {IPRULECTL, "lab"});
  const auto done = testbed::run({.arguments = std::move(flags), .input = std::move(input)}, kBound);
  EXPECT_TRUE(done) << done.error().message();
  return done.value_or(testbed::Finished());
}

bool runs(std::string_view program) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto name = base::read_file(entry.path() / "comm");
    if (name && name->starts_with(program)) return true;
  }
  return false;
}

// A folder that the lab sees, too: its /run, where temporary files of tests are, is another. In memory, and only in the
// tests' own mount namespace.
class SharedFolder {
 public:
  SharedFolder() { EXPECT_EQ(::mount("tmpfs", kPath, "tmpfs", 0, "mode=755"), 0); }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  ~SharedFolder() { ::umount2(kPath, MNT_DETACH); }
  std::filesystem::path operator/(const std::filesystem::path& name) const {
    return std::filesystem::path(kPath) / name;
  }

 private:
  static constexpr const char* kPath = "/mnt";
};

TEST(Lab, lists_its_scenarios_and_refuses_another) {
  const auto list = lab({"--list"});
  for (const char* name : {"uplinks", "faults", "many", "reply"}) EXPECT_THAT(list.output, HasSubstr(name));
  const auto wrong = lab({"--scenario", "nothing"});
  EXPECT_EQ(wrong.exit.code, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("uplinks"));
  EXPECT_EQ(lab({"--shell", "worker-9"}).exit.code, 2);
}

TEST(Lab, one_scenario_can_be_chosen) {
  const auto done = lab({"--scenario", "faults"});
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("eth1 lost and back              eth1 120       eth1 120          right\n"));
  EXPECT_THAT(done.output, Not(HasSubstr("no rule")));
}

TEST(Lab, one_reply_is_planned_and_explained_in_the_words_of_the_commands) {
  const auto done = lab({"--scenario", "reply"});
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("worker-1 $ iprulectl plan --standalone -f public-eu.yaml\n"));
  EXPECT_THAT(done.output, HasSubstr("  + element vip4 203.0.113.45 : goto reply01\n"));
  EXPECT_THAT(done.output, HasSubstr("Verdict  leaves by eth1 via 198.51.100.1 (table 100)\nKernel   agrees\n"));
}

TEST(Lab, what_the_gateways_see_can_be_kept_for_tcpdump) {
  const SharedFolder folder;
  ASSERT_EQ(lab({"--scenario", "uplinks", "--pcap", (folder / "seen").native()}).exit.code, 0);
  for (const char* gateway : {"gateway-a.pcap", "gateway-b.pcap"}) {
    const auto text = base::read_file(folder / "seen" / gateway);
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_EQ(text->substr(0, 4), "\xd4\xc3\xb2\xa1") << gateway;
    EXPECT_GT(text->size(), 10'000U) << gateway;
    EXPECT_THAT(*text, HasSubstr(std::string("\xcb\x00\x71\x2d", 4))) << "203.0.113.45 in " << gateway;
  }
}

TEST(Lab, packets_are_not_written_where_nobody_would_find_them) {
  const auto done = lab({"--pcap", "/run/seen"});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_THAT(done.errors, HasSubstr("--pcap: /run is the lab's own while it runs"));
}

TEST(Lab, a_shell_runs_on_the_machine_that_was_named) {
  const auto done = lab({"--scenario", "uplinks", "--shell", "worker-2"}, "ip -br addr show eth1\nexit 7\n");
  EXPECT_EQ(done.exit.code, 0) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("198.51.100.12/24"));
}

// SIGKILL leaves no time to clean up; the namespaces need none.
TEST(Lab, nothing_is_left_of_a_kept_world_that_was_killed) {
  auto started = testbed::Process::start({.arguments = {IPRULECTL, "lab", "--scenario", "faults", "--keep"}});
  ASSERT_TRUE(started) << started.error().message();
  const std::string way_in = fmt::format("pgrep --parent {})", started->pid());
  ASSERT_TRUE(testbed::eventually("the world is kept", kBound, [&] { return started->output().contains(way_in); }))
      << started->output() << started->errors();
  EXPECT_TRUE(runs("iprule-agent"));
  ::kill(started->pid(), SIGKILL);
  EXPECT_TRUE(testbed::eventually("its agents are gone", 60s, [] { return !runs("iprule-agent"); }));
  const auto named = testbed::run({.arguments = {"ip", "netns"}}, 10s);
  ASSERT_TRUE(named) << named.error().message();
  EXPECT_EQ(named->output, "");
}

TEST(Lab, the_way_into_a_kept_world_that_it_names_is_right) {
  auto started = testbed::Process::start({.arguments = {IPRULECTL, "lab", "--scenario", "uplinks", "--keep"}});
  ASSERT_TRUE(started) << started.error().message();
  ASSERT_TRUE(testbed::eventually("the way is told", kBound, [&] { return started->output().contains("ip rule\n"); }))
      << started->output() << started->errors();
  const std::string text = started->output();
  const auto begin = text.find("nsenter ");
  ASSERT_NE(begin, std::string::npos);
  const auto inside =
      testbed::run({.arguments = {"sh", "-c", text.substr(begin, text.find('\n', begin) - begin)}}, 30s);
  ASSERT_TRUE(inside) << inside.error().message();
  EXPECT_THAT(inside->output, HasSubstr("fwmark 0x100/0x3f00 lookup 100 proto 183")) << inside->errors;
}

// Whoever may make user namespaces needs no root; others are told what is missing.
TEST(Lab, an_ordinary_user_sees_the_same_or_what_is_needed) {
  const SharedFolder folder;  // Where an ordinary user may read, whatever the build folder's rights.
  for (const char* program : {IPRULECTL, IPRULE_AGENT}) {
    std::filesystem::copy(program, folder / std::filesystem::path(program).filename());
  }
  const auto done = testbed::run({.arguments = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                                                (folder / "iprulectl").native(), "lab", "--scenario", "uplinks"}},
                                 kBound);
  ASSERT_TRUE(done) << done.error().message();
  if (done->exit.code == 0) {
    EXPECT_THAT(done->output, HasSubstr("IPRule public-eu, Reply         eth1 120       eth1 120          right\n"));
  } else {
    EXPECT_EQ(done->exit.code, 3);
    EXPECT_THAT(done->errors, HasSubstr("private namespaces need root, or unprivileged user namespaces"));
  }
}

}  // namespace
