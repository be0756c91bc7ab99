#include "http/dial.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "base/fd.h"
#include "http/resolve.h"

namespace http {
namespace {

using namespace std::chrono_literals;

TEST(Dial, addresses_share_the_patience_and_the_last_has_all_of_it) {
  EXPECT_EQ(share_of(10s, 1), 10s);
  EXPECT_EQ(share_of(10s, 2), 5s);
  EXPECT_EQ(share_of(9s, 3), 3s);
}

TEST(Dial, none_of_many_addresses_is_given_up_at_once) {
  EXPECT_EQ(share_of(10s, 100), 2s);
  EXPECT_EQ(share_of(300ms, 100), 300ms) << "nor has it more than there is";
}

// A listener whose queue is full: it swallows the first word of whoever comes.
class Silent {
 public:
  Silent() {
    EXPECT_EQ(::bind(listener_.get(), address_.get(), address_.size), 0);
    EXPECT_EQ(::listen(listener_.get(), 0), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address_.storage), &address_.size), 0);
    EXPECT_EQ(::connect(only_guest_.get(), address_.get(), address_.size), 0);
  }
  const SocketAddress& address() const { return address_; }

 private:
  SocketAddress address_ = Resolution("127.0.0.1", 0).take().value().front();
  base::Fd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  base::Fd only_guest_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

TEST(Dial, an_address_that_swallows_all_packets_takes_its_share_and_no_more) {
  const Silent first;
  const Silent second;
  const Url url{.scheme = "http", .host = "two.example", .port = 6443, .path = ""};
  const base::TimePoint start = base::SteadyClock().now();
  const auto is_connected = [](base::Result<bool> advanced) { return advanced.value_or(true); };
  Dial dial(url, {}, Resolution({first.address(), second.address()}), {}, 10s, start);
  EXPECT_FALSE(is_connected(dial.advance(start)));
  EXPECT_EQ(dial.wake_at(), start + 5s) << "the first of two";
  EXPECT_FALSE(is_connected(dial.advance(start + 4999ms)));
  EXPECT_EQ(dial.wake_at(), start + 5s);
  EXPECT_FALSE(is_connected(dial.advance(start + 5s)));
  EXPECT_EQ(dial.wake_at(), start + 15s) << "the second has all of it";
  const auto end = dial.advance(start + 15s);
  ASSERT_FALSE(end) << "no address is left";
  EXPECT_TRUE(end.error().message().starts_with("http://two.example:6443: no connection in time"))
      << end.error().message();
}

}  // namespace
}  // namespace http
