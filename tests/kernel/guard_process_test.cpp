// The guard as a real second process, with its program killed for real.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "kernel/engine.h"
#include "kernel/guard.h"
#include "plan/inverse.h"
#include "tests/kernel/route_world.h"

namespace kernel::rtnl {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

constexpr auto kLong = std::chrono::milliseconds(600s);
constexpr auto kOld = "default via 10.0.0.1 dev eth0 table 7 proto 183";
constexpr auto kNew = "default via 10.0.0.9 dev eth0 table 7 proto 183";

class GuardProcess : public RouteWorld {
 protected:
  void SetUp() override {
    RouteWorld::SetUp();
    std::string pattern = (std::filesystem::temp_directory_path() / "guard-XXXXXX").native();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    if (IsSkipped()) return;
    ASSERT_TRUE(add(v4, kOld));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A process of its own that starts a guard; `program` goes on under it, in this test's namespace, and its result is
  // its exit code. Returns how the guard ended, as a shell would say it.
  int run_guarded(const std::function<int(Guard&)>& program) {
    const pid_t child = start_guarded(program);
    return wait_for(child);
  }
  pid_t start_guarded(const std::function<int(Guard&)>& program) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    auto guard = Guard::start(folder_);
    ::_exit(guard ? program(*guard) : 99);
  }
  static int wait_for(pid_t child) {
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  // The new gateway instead of the old one, with the way back in the guard's hands. For the program: it has sockets of
  // its own, for those of the test are not shared with a fork.
  static bool change_under(Guard& guard, std::chrono::milliseconds window) {
    auto engine = Engine::open({}, Engine::Reach::all).value();
    auto own = Socket::open(Bus::route).value();
    state::NetState desired;
    desired.routes.push_back(route_of(v4, kNew));
    desired.rules.push_back(state::parse_rule(v4, "500: from 10.0.0.7 lookup 7 proto 183").value());
    const auto todo = plan::diff(engine.observe({}, desired).value(), desired, engine.ownership());
    const auto inverse = encode(own, plan::inverse(todo), engine.ownership()).value();
    return guard.arm(inverse, window).has_value() && engine.apply(todo, {}).count(Effect::done) == todo.ops.size();
  }

  bool is_armed() const { return std::filesystem::exists(folder_ / "undo"); }
  static std::string everything() {
    return run("ip rule; ip route show table all; ip -6 route show table all; ip addr; ip nexthop");
  }

  std::filesystem::path folder_;
};

TEST_F(GuardProcess, program_killed_in_the_middle_leaves_the_state_before) {
  const std::string before = everything();
  const int status = run_guarded([](Guard& guard) {
    if (!change_under(guard, kLong)) return 1;
    ::kill(::getpid(), SIGKILL);
    return 2;
  });
  EXPECT_EQ(status, 128 + SIGKILL);
  EXPECT_EQ(everything(), before);
  EXPECT_FALSE(is_armed());
}

TEST_F(GuardProcess, change_that_is_not_confirmed_in_time_is_undone_while_the_program_lives) {
  const std::string before = everything();
  const auto file = folder_ / "undo";
  const int status = run_guarded([&](Guard& guard) {
    if (!change_under(guard, 50ms)) return 1;
    while (std::filesystem::exists(file)) ::usleep(1000);
    const auto confirmed = guard.confirm();
    return !confirmed && confirmed.error().fault() == base::Fault::conflict ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(everything(), before);
}

TEST_F(GuardProcess, confirmed_change_stays_also_when_the_program_is_killed_then) {
  const int status = run_guarded([](Guard& guard) {
    if (!change_under(guard, kLong) || !guard.confirm()) return 1;
    ::kill(::getpid(), SIGKILL);
    return 2;
  });
  EXPECT_EQ(status, 128 + SIGKILL);
  EXPECT_EQ(table(v4, 7), Lines{kNew});
  EXPECT_FALSE(is_armed());
}

TEST_F(GuardProcess, change_is_undone_at_once_when_asked) {
  const std::string before = everything();
  EXPECT_EQ(run_guarded([](Guard& guard) { return change_under(guard, kLong) && guard.undo() ? 0 : 1; }), 0);
  EXPECT_EQ(everything(), before);
}

TEST_F(GuardProcess, both_killed_is_undone_at_the_next_start) {
  const std::string before = everything();
  const int status = run_guarded([](Guard& guard) {
    if (!change_under(guard, kLong)) return 1;
    ::kill(::getppid(), SIGKILL);
    ::kill(::getpid(), SIGKILL);
    return 2;
  });
  EXPECT_EQ(status, 128 + SIGKILL);
  EXPECT_EQ(table(v4, 7), Lines{kNew});
  EXPECT_TRUE(is_armed());
  EXPECT_TRUE(undo_left_over(folder_).value());
  EXPECT_EQ(everything(), before);
  EXPECT_FALSE(undo_left_over(folder_).value()) << "once";
}

TEST_F(GuardProcess, one_change_at_a_time) {
  EXPECT_EQ(run_guarded([](Guard& guard) {
              if (!guard.arm({}, kLong)) return 1;
              if (guard.arm({}, kLong).error().fault() != base::Fault::conflict) return 2;
              if (!guard.confirm() || !guard.arm({}, kLong) || !guard.confirm()) return 3;
              return guard.confirm() ? 4 : 0;
            }),
            0);
}

TEST_F(GuardProcess, ends_as_its_program_ends_and_passes_signals_on) {
  EXPECT_EQ(run_guarded([](Guard&) { return 7; }), 7);
  sigset_t term;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &term, nullptr);  // Inherited, so the signal waits for whoever asks.
  const pid_t child = start_guarded([&](Guard&) {
    int signal = 0;
    ::sigwait(&term, &signal);
    return signal == SIGTERM ? 8 : 9;
  });
  ::kill(child, SIGTERM);
  EXPECT_EQ(wait_for(child), 8);
  ::sigprocmask(SIG_UNBLOCK, &term, nullptr);
}

TEST_F(GuardProcess, damaged_way_back_is_an_error_and_stays) {
  ASSERT_TRUE(base::write_file(folder_ / "undo", "iprule-undo 1 x y\nz"));
  EXPECT_FALSE(undo_left_over(folder_));
  EXPECT_TRUE(is_armed());
}

TEST_F(GuardProcess, without_a_folder_to_write_to_nothing_is_armed) {
  const auto folder = folder_;
  std::filesystem::remove_all(folder);
  EXPECT_EQ(run_guarded([](Guard& guard) { return guard.arm({}, kLong) ? 1 : 0; }), 0);
  std::filesystem::create_directory(folder);
}

}  // namespace
}  // namespace kernel::rtnl
