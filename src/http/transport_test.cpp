#include "http/transport.h"

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "http/exchange.h"
#include "http/plain_server_test.h"
#include "http/scripted_server_test.h"

namespace http {
namespace {

using namespace std::chrono_literals;

constexpr const char* kYes = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes";
constexpr const char* kEvent = "1\r\nx\r\n";

// Connections over HTTP/1.1 that were served and are kept, and one more with a stream, through which the test has the
// transport's thread: what it does there lies before that thread all at once.
class IdleConnections : public testing::Test {
 protected:
  static constexpr int kIdle = 4;  // More than a request is tried on.

  IdleConnections() {
    std::vector<std::shared_ptr<Exchange>> served;
    for (int i = 0; i < kIdle; ++i) {
      served.push_back(start(Exchange::Mode::whole));
      idle_.push_back(accept());
    }
    stream_ = start(Exchange::Mode::streamed);
    streaming_ = accept();
    say(streaming_, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const base::Fd& one : idle_) say(one, kYes);
    for (const auto& one : served) EXPECT_TRUE(one->wait_end(soon(), {}));
  }

  std::shared_ptr<Exchange> start(Exchange::Mode mode) {
    auto out = std::make_shared<Exchange>(get("/"), mode, 1000);
    transport_.start(out);
    return out;
  }

  base::Fd accept() {
    base::Fd out = server_.accept();
    EXPECT_TRUE(read_until(out, "\r\n\r\n").starts_with("GET / "));
    return out;
  }

  template <typename Work>
  void on_the_transports_thread(Work work) {
    say(streaming_, kEvent);
    const auto caller = std::this_thread::get_id();
    const auto take = [&](std::string_view) {
      const bool is_there = std::this_thread::get_id() != caller;
      is_there ? work() : say(streaming_, kEvent);  // It came before anybody waited for it.
      return !is_there;
    };
    EXPECT_TRUE(stream_->follow(take, soon(), {}));
  }

  // What a request is answered that is posted together with what the server says when it leaves.
  base::Result<Response> ask_while_all_leave(std::string_view last_words) {
    std::shared_ptr<Exchange> asked;
    on_the_transports_thread([&] {
      for (const base::Fd& one : idle_) leave(one, last_words);
      asked = start(Exchange::Mode::whole);
    });
    auto serving = std::async(std::launch::async, [this] {
      base::Fd fresh = server_.accept();
      if (!read_until(fresh, "\r\n\r\n").empty()) say(fresh, kYes);
      return fresh;
    });
    auto response = asked->wait_end(soon(), {});
    server_.close();
    (void)serving.get();
    for (const base::Fd& one : idle_) EXPECT_EQ(read_to_the_end(one), "") << "asked where nobody answers";
    return response;
  }

  PlainServer server_;
  Transport transport_{server_.url(), *TlsContext::load({.insecure = true}), {}, {}};
  std::vector<base::Fd> idle_;
  std::shared_ptr<Exchange> stream_;
  base::Fd streaming_;
};

TEST_F(IdleConnections, that_the_server_has_left_get_no_request) {
  const auto response = ask_while_all_leave("");
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_EQ(response->body, "yes");
}

// As load balancers do.
TEST_F(IdleConnections, what_the_server_says_when_it_leaves_is_no_answer_to_the_next_request) {
  const auto response = ask_while_all_leave("HTTP/1.1 408 Request Time-out\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "yes");
}

// HTTP/1.1 has no ping: who waits for an event, and who has asked, are told all the same.
TEST(Transport, a_server_whose_host_is_gone_is_given_up) {
  PlainServer server;
  Transport transport(server.url(), *TlsContext::load({.insecure = true}), {.ping_after = 1s, .ping_timeout = 3s}, {});
  const auto ask = [&](Exchange::Mode mode) {
    auto out = std::make_shared<Exchange>(get("/"), mode, 1000);
    transport.start(out);
    return out;
  };
  const auto served = ask(Exchange::Mode::whole);
  const base::Fd idle = server.accept();
  const auto stream = ask(Exchange::Mode::streamed);
  const base::Fd streaming = server.accept();
  for (const base::Fd* one : {&idle, &streaming}) read_until(*one, "\r\n\r\n");
  say(idle, kYes);
  ASSERT_TRUE(served->wait_end(soon(), {}));
  say(streaming, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  say(streaming, kEvent);
  ASSERT_EQ(stream->read(soon(), {}).value_or(""), "x");

  vanish(idle);
  vanish(streaming);
  const auto asked = ask(Exchange::Mode::whole);
  const auto silence = stream->read(soon(), {});
  ASSERT_FALSE(silence);
  EXPECT_EQ(silence.error().fault(), base::Fault::unavailable) << silence.error().message();
  const auto answer = asked->wait_end(soon(), {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fault(), base::Fault::unavailable) << answer.error().message();
}

}  // namespace
}  // namespace http
