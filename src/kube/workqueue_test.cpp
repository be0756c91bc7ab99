#include "kube/workqueue.h"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace kube {
namespace {

using namespace std::chrono_literals;

WorkTuning retrying_after(base::Duration first) {
  WorkTuning out;
  out.first_retry = first;
  return out;
}

TEST(WorkQueue, workers_never_share_a_key_and_see_the_last_add) {
  constexpr std::size_t kKeys = 8;
  constexpr int kAdds = 2000;
  struct Cell {
    std::atomic<int> written = 0;
    std::atomic<int> seen = 0;
    std::atomic<int> workers = 0;
    int unprotected = 0;  // TSan sees two workers on one key.
  };
  std::array<Cell, kKeys> cells;
  WorkQueue queue;
  std::stop_source stop;
  std::vector<std::jthread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] {
      while (const auto key = queue.take(stop.get_token())) {
        Cell& cell = cells[static_cast<std::size_t>(std::stoi(*key))];
        EXPECT_EQ(cell.workers++, 0);
        const int pass = ++cell.unprotected;
        cell.seen = cell.written.load();
        --cell.workers;
        queue.done(*key, pass % 5 == 0 ? Next::retry() : pass % 7 == 0 ? Next::after(1ms) : Next::on_change());
      }
    });
  }
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 2; ++i) {
      writers.emplace_back([&] {
        for (std::size_t n = 0; n < kAdds; ++n) {
          ++cells[n % kKeys].written;
          queue.add(std::to_string(n % kKeys));
        }
      });
    }
  }
  stop.request_stop();
  workers.clear();
  for (const Cell& cell : cells) EXPECT_EQ(cell.seen, cell.written);
}

TEST(WorkQueue, a_delayed_key_wakes_a_waiting_worker) {
  WorkQueue queue;
  const auto start = base::SteadyClock().now();
  queue.add_after("late", 20ms);
  EXPECT_EQ(queue.take({}), "late");
  EXPECT_GE(base::SteadyClock().now() - start, 20ms);
}

TEST(WorkQueue, a_shorter_delay_wakes_a_worker_that_waits_for_a_longer_one) {
  WorkQueue queue;
  queue.add_after("tomorrow", 24h);
  const std::jthread other([&] { queue.add_after("soon", 1ms); });
  EXPECT_EQ(queue.take({}), "soon");
}

TEST(WorkQueue, a_key_that_is_put_off_still_has_its_failures) {
  WorkQueue queue(retrying_after(1ms));
  queue.add("one");
  const auto start = base::SteadyClock().now();
  for (int failures = 1; failures <= 7; ++failures) {
    queue.done(*queue.take({}), Next::retry());
    queue.done(*queue.take({}), Next::put_off(0ms));
  }
  EXPECT_GE(base::SteadyClock().now() - start, 127ms) << "each wait is twice the one before";
}

TEST(WorkQueue, what_is_due_beside_a_failure_does_not_wait_for_its_back_off) {
  WorkQueue queue(retrying_after(1h));
  queue.add("one");
  queue.done(*queue.take({}), Next::failed({base::Fault::unavailable, "no"}, 1ms));
  EXPECT_EQ(queue.take({}), "one");
  EXPECT_EQ(queue.counts().retries, 1U);
}

TEST(WorkQueue, a_failure_is_tried_again_before_what_is_due_much_later) {
  WorkQueue queue(retrying_after(1ms));
  queue.add("one");
  queue.done(*queue.take({}), Next::failed({base::Fault::unavailable, "no"}, 1h));
  EXPECT_EQ(queue.take({}), "one");
}

TEST(WorkQueue, a_stop_drains_what_is_ready_and_drops_the_rest) {
  WorkQueue queue;
  queue.add("one");
  queue.add("two");
  queue.add_after("never", 1h);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(queue.take(stop.get_token()), "one");
  queue.add("too late");
  queue.done("one", Next::retry());
  EXPECT_EQ(queue.take(stop.get_token()), "two");
  queue.done("two", Next::on_change());
  EXPECT_EQ(queue.take(stop.get_token()), std::nullopt);
  EXPECT_EQ(queue.counts().delayed, 0U);
}

}  // namespace
}  // namespace kube
