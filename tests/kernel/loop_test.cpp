// Parts of the agent's loop that only a kernel can show: many refusals at once, and a loop that is stuck.
#include <array>
#include <atomic>
#include <cerrno>
#include <latch>
#include <span>
#include <sys/syscall.h>
#include <thread>
#include <utility>

#include "agent/node_loop.h"
#include "agent/rule_retries.h"
#include "http/probe.h"
#include "runtime/health.h"
#include "testbed/eventually.h"
#include "tests/kernel/refuse_calls.h"
#include "tests/kernel/sandbox.h"

namespace agent {
namespace {

using namespace std::chrono_literals;
using kernel::Effect;
using kernel::Engine;

class Refusals : public Sandbox {
 protected:
  // As a loop does it, at a time of the test's choice.
  Engine::Report pass(base::TimePoint now) {
    state::NetState wanted = wanted_;
    retries_.hold_back(wanted, now);
    auto report = engine_.converge(wanted, {});
    EXPECT_TRUE(report) << report.error().message();
    retries_.note(*report, now);
    return *std::move(report);
  }

  static state::Rule source(std::uint32_t number, std::uint32_t priority) {
    state::Rule rule{.priority = priority, .protocol = 183, .table = 100};
    const std::array<std::uint8_t, 4> bytes = {10, 0, static_cast<std::uint8_t>(number >> 8U),
                                               static_cast<std::uint8_t>(number)};
    rule.selector.from = net::Prefix::host(net::Address::from_bytes(std::as_bytes(std::span(bytes))).value());
    return rule;
  }

  state::NetState wanted_;
  Engine engine_ = Engine::open({}).value();
  RuleRetries retries_{1};
};

// Changes are sent many at a time, in order: refused is whatever is sent together with others, and the last one, which
// fills no window, goes alone.
TEST_F(Refusals, D29_a_good_rule_is_there_after_one_pass_beside_a_thousand_that_are_refused) {
  constexpr std::uint32_t kBad = 1024;  // Whole windows.
  constexpr std::uint32_t kManyBytes = 1000;
  for (std::uint32_t i = 0; i < kBad; ++i) wanted_.rules.push_back(source(i, 500));
  wanted_.rules.push_back(source(kBad, 900));
  const base::TimePoint now{1h};
  std::thread([&] {
    ASSERT_TRUE(refuse_calls(SYS_sendto, ENOBUFS, 2, kManyBytes));
    const auto first = pass(now);
    EXPECT_EQ(first.outcome.count(Effect::done), 1);
    EXPECT_EQ(first.left.ops.size(), kBad);
    EXPECT_EQ(retries_.refused().size(), kBad);
    EXPECT_TRUE(pass(now).done.empty()) << "each waits for its time";
    const auto later = pass(now + 1min);
    EXPECT_EQ(later.done.ops.size(), kBad) << "and is tried once then";
    EXPECT_EQ(retries_.refused().size(), kBad);
  }).join();
  EXPECT_EQ(run("ip rule show priority 900"), "900:\tfrom 10.0.4.0 lookup 100 proto 183\n");
  EXPECT_TRUE(pass(now + 5min).settled()) << "the kernel takes them again";
  EXPECT_TRUE(retries_.refused().empty());
}

// As above, ours is refused and the removal of the old project's, which goes alone, would not be.
TEST_F(Refusals, the_old_projects_rule_stands_until_the_kernel_has_taken_ours) {
  constexpr std::uint32_t kWholeWindows = 1024;
  constexpr std::uint32_t kManyBytes = 1000;
  for (std::uint32_t i = 0; i < kWholeWindows; ++i) wanted_.rules.push_back(source(i, 500));
  const std::string old = "500:\tfrom 10.0.0.7 lookup 100\n";
  run("ip rule add from 10.0.0.7 lookup 100 priority 500");
  const auto from_there = [] { return run("ip rule show from 10.0.0.7"); };

  const plan::Heirloom heirloom{.source = net::Address::parse("10.0.0.7").value(), .table = 100, .priority = 500};
  runtime::Signal changed;
  NodeLoop loop([&](const Sight&) { return Wanted{.state = wanted_, .heirlooms = {heirloom}}; }, changed);
  std::thread([&] {
    ASSERT_TRUE(refuse_calls(SYS_sendto, ENOBUFS, 2, kManyBytes));
    ASSERT_EQ(loop.pass({}).value()->refused.size(), kWholeWindows);
    EXPECT_EQ(from_there(), old);
    ASSERT_EQ(loop.pass({}).value()->held_back, kWholeWindows);
    EXPECT_EQ(from_there(), old) << "nor while ours is not tried";
  }).join();
  EXPECT_TRUE(testbed::eventually("ours has taken its place", 30s, [&] {
    (void)loop.pass({});
    return from_there() == "500:\tfrom 10.0.0.7 lookup 100 proto 183\n";
  }));
}

struct SetClock final : base::Clock {
  base::TimePoint now() const override { return base::TimePoint(at.load()); }
  std::atomic<base::Duration> at{1h};
};

class Watchdog : public Sandbox {};

TEST_F(Watchdog, D32_a_loop_that_is_stuck_fails_the_probe_and_one_that_waits_for_work_does_not) {
  SetClock clock;
  runtime::Heartbeat heartbeat("loop", 30s, clock);
  runtime::Health alive;
  alive.add(heartbeat);
  const auto health = [probe = http::probe(alive, "ok")] { return probe({.method = "GET", .target = "/health"}); };
  const auto is_well = [&] { return health().status == 200; };

  std::latch stuck(1);
  std::latch released(1);
  runtime::Signal changed;
  const auto hangs_once = [&, is_first = true](const Sight&) mutable -> std::optional<Wanted> {
    if (std::exchange(is_first, false)) stuck.count_down();
    released.wait();
    return Wanted();
  };
  NodeLoop loop(hangs_once, changed, {.audit = 24h, .heartbeat = &heartbeat});
  const std::jthread thread([&](std::stop_token stop) { loop.run(std::move(stop)); });
  stuck.wait();
  clock.at = 1h + 30s;
  EXPECT_TRUE(is_well()) << "a bulk may take a while";
  clock.at = 1h + 31s;
  EXPECT_EQ(health().status, 503);
  EXPECT_EQ(health().body, "[-]loop failed: no progress for 31 s\n");
  released.count_down();
  EXPECT_TRUE(testbed::eventually("it goes on", 30s, is_well));
  clock.at = 48h;
  EXPECT_TRUE(testbed::eventually("it may wait for as long as nothing happens", 30s, is_well));
}

}  // namespace
}  // namespace agent
