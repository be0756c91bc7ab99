#include "http/connection.h"

#include <malloc.h>
#include <memory>
#include <poll.h>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "http/plain_server_test.h"
#include "http/scripted_server_test.h"

namespace http {
namespace {

using base::Fault;
using base::now;

constexpr const char* kGoodBye = "HTTP/1.1 408 Request Time-out\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

std::shared_ptr<Exchange> question(const std::string& target) {
  return std::make_shared<Exchange>(get(target), Exchange::Mode::whole, 1000);
}

// HTTP/1.1, driven by hand.
class OldConnection {
 public:
  base::Fd accept() {
    connection_.advance(now());
    return server_.accept();
  }

  template <typename Done>
  void advance_until(Done done) {
    for (connection_.advance(now()); !done(); connection_.advance(now())) {
      constexpr int kLookAgain = 10;  // Milliseconds: not all that it waits for is in its socket.
      pollfd ready{.fd = connection_.fd(), .events = connection_.events(), .revents = 0};
      (void)::poll(&ready, 1, kLookAgain);
    }
  }

  void serve_one(const base::Fd& peer) {
    const auto first = question("/first");
    connection_.start(first);
    advance_until([&] { return has_something_to_read(peer); });
    EXPECT_TRUE(read_until(peer, "\r\n\r\n").starts_with("GET /first "));
    say(peer, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes");
    advance_until([&] { return first->ended(); });
    EXPECT_EQ(first->wait_end(soon(), {}).value_or(Response()).body, "yes");
  }

  Connection* operator->() { return &connection_; }

 private:
  PlainServer server_;
  Connection connection_{server_.url(), {}, *TlsContext::load({.insecure = true}), {}, Connection::Protocol::unknown,
                         now()};
};

TEST(Connection, what_has_not_left_goes_elsewhere_when_the_server_leaves_between_two_requests) {
  for (const char* const last_words : {"", kGoodBye}) {
    OldConnection one;
    const base::Fd peer = one.accept();
    one.serve_one(peer);
    leave(peer, last_words);
    const auto second = question("/second");
    one->start(second);
    one->advance(now());
    EXPECT_TRUE(one->closed());
    EXPECT_FALSE(second->ended()) << last_words;
    const auto refused = one->take_refused();
    ASSERT_EQ(refused.size(), 1U) << last_words;
    EXPECT_EQ(refused.front(), second);
    EXPECT_EQ(read_to_the_end(peer), "");
  }
}

TEST(Connection, a_server_that_leaves_before_the_first_request_is_not_asked_again) {
  OldConnection one;
  const base::Fd peer = one.accept();
  leave(peer, "");
  const auto first = question("/first");
  one->start(first);
  one.advance_until([&] { return one->closed(); });
  EXPECT_TRUE(one->take_refused().empty());
  const auto failed = first->wait_end(soon(), {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().fault(), Fault::unavailable);
  EXPECT_NE(failed.error().message().find("connection lost"), std::string::npos) << failed.error().message();
  EXPECT_EQ(read_to_the_end(peer), "");
}

TEST(Connection, a_request_that_is_given_up_before_it_has_left_is_not_sent) {
  OldConnection one;
  const base::Fd peer = one.accept();
  one.serve_one(peer);
  const auto second = question("/second");
  one->start(second);
  EXPECT_TRUE(one->cancel(*second));
  one->advance(now());
  EXPECT_TRUE(one->closed());
  EXPECT_EQ(second->wait_end(soon(), {}).error().fault(), Fault::cancelled);
  EXPECT_EQ(read_to_the_end(peer), "");
}

// Of the whole process, in bytes. Sanitizers, whose heap it is not, have nothing here.
std::size_t heap() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(Connection, what_was_large_is_given_back_while_nothing_is_under_way) {
  constexpr std::size_t kLarge = 4U << 20U;
  constexpr std::size_t kLittle = 32U << 10U;
  OldConnection one;
  const base::Fd peer = one.accept();
  one.serve_one(peer);
  const std::size_t before = heap();
  {
    const std::jthread server([&] {
      EXPECT_FALSE(read_until(peer, "\r\n\r\n").empty());
      EXPECT_EQ(read_bytes(peer, kLarge), std::string(kLarge, 'y'));
      say(peer, "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kLarge) + "\r\n\r\n" + std::string(kLarge, 'x'));
    });
    Request large = get("/large");
    large.body.assign(kLarge, 'y');
    const auto exchange = std::make_shared<Exchange>(std::move(large), Exchange::Mode::whole, kLarge);
    one->start(exchange);
    one.advance_until([&] { return exchange->ended(); });
    EXPECT_EQ(exchange->wait_end(soon(), {}).value_or(Response()).body.size(), kLarge);
  }
  EXPECT_LT(heap(), before + kLittle);
  one.serve_one(peer);
}

// What has left may have been done.
TEST(Connection, a_request_that_the_server_may_have_read_is_not_sent_again) {
  OldConnection one;
  const base::Fd peer = one.accept();
  one.serve_one(peer);
  const auto second = question("/second");
  one->start(second);
  one->advance(now());
  leave(peer, "");
  one.advance_until([&] { return one->closed(); });
  EXPECT_TRUE(one->take_refused().empty());
  EXPECT_FALSE(second->wait_end(soon(), {}));
  EXPECT_TRUE(read_to_the_end(peer).starts_with("GET /second "));
}

}  // namespace
}  // namespace http
