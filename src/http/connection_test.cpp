#include "http/connection.h"

#include <memory>
#include <string>

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

  void serve_one(const base::Fd& peer) {
    const auto first = question("/first");
    connection_.start(first);
    while (!has_something_to_read(peer)) connection_.advance(now());
    EXPECT_TRUE(read_until(peer, "\r\n\r\n").starts_with("GET /first "));
    say(peer, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes");
    while (!first->ended()) connection_.advance(now());
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
  while (!one->closed()) one->advance(now());
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

// What has left may have been done.
TEST(Connection, a_request_that_the_server_may_have_read_is_not_sent_again) {
  OldConnection one;
  const base::Fd peer = one.accept();
  one.serve_one(peer);
  const auto second = question("/second");
  one->start(second);
  one->advance(now());
  leave(peer, "");
  while (!one->closed()) one->advance(now());
  EXPECT_TRUE(one->take_refused().empty());
  EXPECT_FALSE(second->wait_end(soon(), {}));
  EXPECT_TRUE(read_to_the_end(peer).starts_with("GET /second "));
}

}  // namespace
}  // namespace http
