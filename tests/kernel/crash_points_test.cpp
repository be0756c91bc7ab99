// The agent is killed at each of its netlink calls: before the kernel has what it sends, and before it has read what
// the kernel answered. Wherever that was, its next start comes to the same end as if nothing had happened: no rule
// twice, none left over, everybody else's as they were.
#include <csignal>

#include "tests/kernel/traced_agent.h"

namespace {

class CrashPoints : public TracedAgent {
 protected:
  bool kill_at(const Point& point) {
    const auto inject = fmt::format("inject={}:signal=KILL:when={}", point.call, point.number);
    return trace({"-e", "trace=" + point.call, "-e", inject}).exit.signal == SIGKILL;
  }
};

TEST_P(CrashPoints, killed_anywhere_the_next_start_comes_to_the_same_end) {
  constexpr std::size_t kFew = 9;
  const auto all = points();
  ASSERT_FALSE(all.empty());
  const std::string wanted = everything();
  int killed = 0;
  for (const Point& point : selected(all, kFew)) {
    SCOPED_TRACE(fmt::format("{} {}", point.call, point.number));
    start_anew();
    ask_for(GetParam().after);
    killed += kill_at(point) ? 1 : 0;  // A last call may depend on the moment.
    apply(GetParam().after);
    ASSERT_EQ(everything(), wanted);
  }
  fmt::print("{} calls, killed at {}\n", all.size(), killed);
  EXPECT_GT(killed, 0);
}

INSTANTIATE_TEST_SUITE_P(Workloads, CrashPoints, testing::ValuesIn(kWorkloads),
                         [](const auto& workload) { return std::string(workload.param.name); });

}  // namespace
