#include "runtime/health.h"

#include <latch>
#include <thread>

#include <gtest/gtest.h>

namespace runtime {
namespace {

using namespace std::chrono_literals;

struct SetClock final : base::Clock {
  base::TimePoint now() const override { return base::TimePoint(at.load()); }
  std::atomic<base::Duration> at{100s};
};

TEST(Heartbeat, silence_during_work_is_trouble_and_rest_is_not) {
  SetClock clock;
  Heartbeat heartbeat("reconcile", 2min, clock);
  EXPECT_FALSE(heartbeat.trouble());
  heartbeat.beat();
  clock.at = 100s + 2min;
  EXPECT_FALSE(heartbeat.trouble());
  clock.at = 100s + 2min + 1s;
  EXPECT_EQ(heartbeat.trouble(), "no progress for 121 s");
  heartbeat.beat();
  EXPECT_FALSE(heartbeat.trouble());
  heartbeat.rest();
  clock.at = 24h;
  EXPECT_FALSE(heartbeat.trouble());
}

TEST(Heartbeat, a_loop_that_hangs_is_seen_from_another_thread) {
  SetClock clock;
  Heartbeat heartbeat("apply", 10s, clock);
  std::latch working(1);
  std::latch release(1);
  const std::jthread loop([&] {
    heartbeat.beat();
    working.count_down();
    release.wait();  // Hangs.
    heartbeat.rest();
  });
  working.wait();
  clock.at = 200s;
  EXPECT_TRUE(heartbeat.trouble());
  release.count_down();
}

TEST(Health, the_report_names_every_check_and_every_reason) {
  SetClock clock;
  Heartbeat heartbeat("reconcile", 1s, clock);
  Health health;
  EXPECT_TRUE(health.report().well);
  health.add(heartbeat);
  health.add("caches", [] { return std::optional<std::string>("services not listed yet"); });
  EXPECT_FALSE(health.report().well);
  EXPECT_EQ(health.report().text, "[+]reconcile ok\n[-]caches failed: services not listed yet\n");
}

TEST(Health, a_remark_is_told_and_spoils_nothing) {
  Health health;
  std::optional<std::string> remark;
  health.add_remark("watches", [&] { return remark; });
  EXPECT_EQ(health.report().remarks, "");
  remark = "services: nothing new comes";
  EXPECT_TRUE(health.report().well);
  EXPECT_EQ(health.report().text, "");
  EXPECT_EQ(health.report().remarks, "[!]watches: services: nothing new comes\n");
}

}  // namespace
}  // namespace runtime
