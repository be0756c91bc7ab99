#include "kube/controller.h"

#include <latch>
#include <map>
#include <thread>

#include <gtest/gtest.h>

namespace kube {
namespace {

using namespace std::chrono_literals;

TEST(Controller, a_failing_key_is_tried_again_and_holds_up_no_other) {
  std::latch done(2);
  std::atomic<int> tries = 0;
  Controller controller({.name = "test"}, [&](const WorkKey& key, std::stop_token) -> base::Result<Next> {
    if (key == "poison" && ++tries < 4) return base::fail(base::Fault::unavailable, "not yet");
    done.count_down();
    return Next::on_change();
  });
  controller.queue().add("poison");
  controller.queue().add("fine");
  const std::jthread thread([&](std::stop_token stop) { controller.run(std::move(stop)); });
  done.wait();
  EXPECT_EQ(tries, 4);
  EXPECT_EQ(controller.queue().counts().retries, 3U);
}

TEST(Controller, every_pass_is_observed_with_how_it_ended) {
  runtime::Guarded<std::map<std::string, int>> outcomes;
  Controller controller(
      {.name = "test", .workers = 2},
      [](const WorkKey& key, std::stop_token) -> base::Result<Next> {
        if (key == "after") return Next::after(1h);
        if (key == "retry") return Next::retry();
        if (key == "error") return base::fail(base::Fault::denied, "no");
        return Next::on_change();
      },
      [&](const Pass& pass) {
        EXPECT_GE(pass.waited, 0s);
        EXPECT_GE(pass.took, 0s);
        outcomes.change([&](auto& counts) { ++counts[std::string(text(pass.outcome))]; });
      });
  {
    std::jthread thread([&](std::stop_token stop) { controller.run(std::move(stop)); });
    for (const char* key : {"plain", "after", "retry", "error"}) controller.queue().add(key);
    const auto all_seen = [](auto& counts) { return counts.size() == 4 ? std::optional(true) : std::nullopt; };
    (void)outcomes.wait({}, all_seen, [](const auto&) { return std::optional<base::TimePoint>(); });
  }
  outcomes.read([](const auto& counts) {
    EXPECT_EQ(counts.at("success"), 1);
    EXPECT_EQ(counts.at("requeue_after"), 1);
    EXPECT_GE(counts.at("requeue"), 1);
    EXPECT_GE(counts.at("error"), 1);
  });
  EXPECT_EQ(controller.active_workers(), 0);
}

TEST(Controller, a_pass_that_hangs_fails_the_health_check) {
  std::latch hanging(1);
  std::latch release(1);
  Controller controller({.name = "test", .stuck_after = 0s},
                        [&](const WorkKey&, std::stop_token) -> base::Result<Next> {
                          hanging.count_down();
                          release.wait();
                          return Next::on_change();
                        });
  runtime::Health health;
  controller.add_to(health);
  EXPECT_TRUE(health.report().well);
  std::jthread thread([&](std::stop_token stop) { controller.run(std::move(stop)); });
  controller.queue().add("a");
  hanging.wait();
  EXPECT_EQ(health.report().text, "[-]test worker 1 failed: no progress for 0 s\n");
  release.count_down();
  thread.request_stop();
  thread.join();
  EXPECT_TRUE(health.report().well);
}

}  // namespace
}  // namespace kube
