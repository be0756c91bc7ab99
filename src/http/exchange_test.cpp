#include "http/exchange.h"

#include <chrono>

#include <gtest/gtest.h>

namespace http {
namespace {

base::TimePoint in_a_while() {
  return base::SteadyClock().now() + std::chrono::seconds(20);
}

TEST(ExchangeTest, a_reader_sees_a_stop_though_there_is_more_to_read) {
  Exchange exchange(Request(), Exchange::Mode::streamed, 0);
  exchange.deliver_data("more");
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = exchange.read(in_a_while(), stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().fault(), base::Fault::cancelled);
  EXPECT_EQ(exchange.read(in_a_while(), {}).value_or(""), "more");
}

TEST(ExchangeTest, a_follower_slower_than_its_stream_sees_a_stop) {
  Exchange exchange(Request(), Exchange::Mode::streamed, 0);
  exchange.deliver_data("more");
  std::stop_source stop;
  int calls = 0;
  const auto take = [&](std::string_view) {
    exchange.deliver_data("more");
    if (++calls == 3) stop.request_stop();
    return calls < 10;
  };
  const auto stopped = exchange.follow(take, in_a_while(), stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().fault(), base::Fault::cancelled);
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace http
