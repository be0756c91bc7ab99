#include "runtime/guarded.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace runtime {
namespace {

using namespace std::chrono_literals;

using Numbers = Guarded<std::vector<int>>;

std::optional<int> pop(std::vector<int>& numbers) {
  if (numbers.empty()) return std::nullopt;
  const int last = numbers.back();
  numbers.pop_back();
  return last;
}

std::optional<base::TimePoint> never(const std::vector<int>&) {
  return std::nullopt;
}

TEST(Guarded, a_change_wakes_every_waiter) {
  Numbers numbers;
  std::vector<std::jthread> waiters;
  std::atomic<int> sum = 0;
  for (int i = 0; i < 4; ++i) waiters.emplace_back([&] { sum += *numbers.wait({}, pop, never); });
  numbers.change([](auto& value) { value = {1, 2, 3, 4}; });
  waiters.clear();
  EXPECT_EQ(sum, 10);
}

TEST(Guarded, the_value_says_when_to_look_again) {
  Numbers numbers;
  int looks = 0;
  const auto found = numbers.wait(
      {}, [&](auto&) { return ++looks < 3 ? std::nullopt : std::optional(looks); },
      [](const auto&) { return std::optional(base::SteadyClock().now() + 1ms); });
  EXPECT_EQ(found, 3);
}

TEST(Guarded, stopping_ends_the_wait_but_not_before_a_last_look) {
  Numbers numbers(std::vector<int>{7});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(numbers.wait(stop.get_token(), pop, never), 7);
  EXPECT_EQ(numbers.wait(stop.get_token(), pop, never), std::nullopt);
}

TEST(Guarded, a_waiter_is_stopped_from_another_thread) {
  Numbers numbers;
  std::stop_source stop;
  const std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(numbers.wait(stop.get_token(), pop, never), std::nullopt);
}

}  // namespace
}  // namespace runtime
