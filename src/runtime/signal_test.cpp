#include "runtime/signal.h"

#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/snapshot.h"

namespace runtime {
namespace {

TEST(Signal, many_raises_are_one_wake_up) {
  Signal signal;
  signal.raise();
  signal.raise();
  EXPECT_TRUE(signal.wait({}));
  EXPECT_FALSE(signal.wait({}, base::SteadyClock().now()));
}

TEST(Signal, a_waiter_is_woken_by_another_thread) {
  Signal signal;
  const std::jthread raiser([&] { signal.raise(); });
  EXPECT_TRUE(signal.wait({}));
}

TEST(Signal, stopping_ends_the_wait) {
  Signal signal;
  std::stop_source stop;
  const std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_FALSE(signal.wait(stop.get_token()));
}

TEST(Signal, a_listener_is_told_by_the_raiser_as_long_as_it_lives) {
  Signal signal;
  int told = 0;
  std::thread::id by;
  {
    const Signal::Listener listener(signal, [&] {
      ++told;
      by = std::this_thread::get_id();
    });
    std::thread raiser([&] { signal.raise(); });
    const auto id = raiser.get_id();
    raiser.join();
    EXPECT_EQ(by, id);
    signal.raise();
    EXPECT_EQ(told, 2);
  }
  signal.raise();
  EXPECT_EQ(told, 2);
}

TEST(Snapshot, a_reader_keeps_what_it_got) {
  Snapshot<std::string> snapshot("one");
  const auto held = snapshot.latest();
  const std::jthread writer([&] { snapshot.publish("two"); });
  while (*snapshot.latest() != "two") std::this_thread::yield();
  EXPECT_EQ(*held, "one");
}

}  // namespace
}  // namespace runtime
