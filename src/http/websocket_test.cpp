#include "http/websocket.h"

#include <memory>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "base/fd.h"
#include "http/plain_server_test.h"
#include "http/scripted_server_test.h"
#include "http/server_certificate.h"

namespace http {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

class WebSockets : public testing::Test {
 protected:
  void serve(ScriptedServer::Script script) {
    server_ = std::make_unique<ScriptedServer>(std::move(script), "127.0.0.1", ScriptedServer::Speaks::http1);
  }
  auto open() {
    TlsOptions options = server_->trust();
    options.only_http1 = true;
    const WebSocket::Place place{.server = server_->url(), .proxy = {}, .tls = TlsContext::load(options).value()};
    return WebSocket::open(place, {.method = "GET", .target = "/talk", .headers = {{"x-who", "me"}}, .body = {}},
                           "first, second", soon(), {});
  }

  std::unique_ptr<ScriptedServer> server_;
};

TEST_F(WebSockets, messages_come_whole_whatever_frames_they_came_in) {
  Request asked;
  serve([&](ScriptedServer& server, const ScriptedServer::Call& call) {
    asked = call.request;
    // The first frames right behind the answer: a message in two frames with a ping between, then a farewell.
    server.raw(call.connection, welcome(call.request) + "\x02\x03one"s + "\x89\x01p"s + "\x80\x03two"s + "\x88\x00"s);
  });
  auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message();
  auto* socket = std::get_if<WebSocket>(&*opened);
  ASSERT_NE(socket, nullptr);
  EXPECT_EQ(socket->protocol(), "second");
  EXPECT_EQ(socket->receive(soon(), {}).value(), "onetwo");
  EXPECT_EQ(socket->receive(soon(), {}).value(), std::nullopt);
  EXPECT_EQ(asked.target, "/talk");
  EXPECT_EQ(find(asked.headers, "x-who"), "me");
  EXPECT_EQ(find(asked.headers, "sec-websocket-protocol"), "first, second");
}

TEST_F(WebSockets, a_refusal_is_handed_over_as_the_server_said_it) {
  serve([](ScriptedServer& server, const ScriptedServer::Call& call) { server.answer(call, 403, "you may not"); });
  const auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message();
  const auto* refusal = std::get_if<Response>(&*opened);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->status, 403);
  EXPECT_EQ(refusal->body, "you may not");
}

TEST_F(WebSockets, a_refusal_that_ends_with_its_connection_is_one_too) {
  for (const char* form :
       {"\r\nyou may", "Content-Length: 100\r\n\r\nyou may", "Transfer-Encoding: chunked\r\n\r\n9\r\nyou may"}) {
    serve([&](ScriptedServer& server, const ScriptedServer::Call& call) {
      server.raw(call.connection, std::string("HTTP/1.1 403 No\r\n") + form);
      server.post([&server] { server.cut_all(); });
    });
    const auto opened = open();
    ASSERT_TRUE(opened) << form << opened.error().message();
    const auto* refusal = std::get_if<Response>(&*opened);
    ASSERT_NE(refusal, nullptr) << form;
    EXPECT_EQ(refusal->status, 403) << form;
    EXPECT_EQ(refusal->body, "you may") << form;
  }
}

TEST_F(WebSockets, who_does_not_know_the_answer_to_the_key_is_none) {
  serve([](ScriptedServer& server, const ScriptedServer::Call& call) {
    server.raw(call.connection,
               "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n");
  });
  EXPECT_FALSE(open());
}

TEST_F(WebSockets, a_refusal_without_end_is_cut_short) {
  for (const char* endless : {"5;", "0\r\nX: "}) {  // What a chunk or the end of all of them may bring along.
    serve([&](ScriptedServer& server, const ScriptedServer::Call& call) {
      server.raw(call.connection, "HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n" +
                                      (endless + std::string(300'000, 'x')));
    });
    const auto opened = open();
    ASSERT_FALSE(opened) << endless;
    EXPECT_EQ(opened.error().errno_value(), EMSGSIZE) << endless << opened.error().message();
  }
}

// The parser compares its limit with what is left of each piece, and throws for a line that its 16 bits do not count.
TEST_F(WebSockets, a_refusal_has_a_limit_in_whatever_form_it_comes) {
  std::string lines;
  for (int i = 0; i < 75'000; ++i) lines += "a:\r\n";
  const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n0\r\n";
  for (const std::string& form : {lines, chunked + lines, chunked + "X: " + std::string(70'000, 'x') + "\r\n"}) {
    serve([&](ScriptedServer& server, const ScriptedServer::Call& call) {
      server.raw(call.connection, "HTTP/1.1 403 No\r\n" + form + "\r\n");
    });
    const auto opened = open();
    EXPECT_EQ(opened ? 0 : opened.error().errno_value(), EMSGSIZE) << form.substr(0, 50);
  }
}

TEST_F(WebSockets, a_stop_counts_though_there_is_more_to_read) {
  constexpr std::size_t kLong = 1'000'000;  // More than is read along with the answer.
  serve([&](ScriptedServer& server, const ScriptedServer::Call& call) {
    server.raw(call.connection, welcome(call.request) + "\x82\x7f\0\0\0\0\x00\x0f\x42\x40"s + std::string(kLong, 'x'));
  });
  auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message();
  auto& socket = std::get<WebSocket>(*opened);
  std::stop_source stopped;
  stopped.request_stop();
  for (int i = 0; i < 1000; ++i) {  // Sooner or later some of it waits to be read.
    const auto cancelled = socket.receive(soon(), stopped.get_token());
    ASSERT_FALSE(cancelled) << "after " << i << " calls";
    EXPECT_EQ(cancelled.error().fault(), base::Fault::cancelled);
    const auto late = socket.receive(base::SteadyClock().now(), {});
    ASSERT_FALSE(late) << "after " << i << " calls";
    EXPECT_EQ(late.error().fault(), base::Fault::timeout);
  }
  const auto whole = socket.receive(soon(), {});
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(whole->value_or("").size(), kLong);
}

TEST_F(WebSockets, a_stop_counts_though_the_next_message_is_here) {
  serve([](ScriptedServer& server, const ScriptedServer::Call& call) {
    server.raw(call.connection, welcome(call.request) + "\x8a\x00\x8a\x00\x02\x03one\x80\x03two"s);
  });
  auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message();
  auto& socket = std::get<WebSocket>(*opened);
  std::stop_source stopped;
  stopped.request_stop();
  const auto cancelled = socket.receive(soon(), stopped.get_token());
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().fault(), base::Fault::cancelled);
  const auto late = socket.receive(base::now(), {});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().fault(), base::Fault::timeout);
  EXPECT_EQ(socket.receive(soon(), {}).value(), "onetwo");
}

TEST_F(WebSockets, a_server_that_says_nothing_or_goes_is_an_error) {
  serve([](ScriptedServer& server, const ScriptedServer::Call& call) {
    server.raw(call.connection, welcome(call.request));
    if (call.connection == 2) server.post([&server] { server.cut_all(); });
  });
  auto silent = open();
  ASSERT_TRUE(silent);
  const auto late = std::get<WebSocket>(*silent).receive(base::SteadyClock().now() + 20ms, {});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().fault(), base::Fault::timeout);
  std::stop_source stopped;
  stopped.request_stop();
  const auto cancelled = std::get<WebSocket>(*silent).receive(soon(), stopped.get_token());
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().fault(), base::Fault::cancelled);

  auto leaving = open();
  if (!leaving) return;  // Cut before the answer was read.
  const auto cut = std::get<WebSocket>(*leaving).receive(soon(), {});
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().fault(), base::Fault::unavailable);
}

// Who says this, its head, is welcome.
std::string welcome_to(std::string_view head) {
  constexpr std::string_view kKey = "sec-websocket-key: ";
  const std::size_t at = head.find(kKey);
  if (at == std::string_view::npos) return {};
  const std::string_view key = head.substr(at + kKey.size());
  Request request;
  request.headers.push_back({"sec-websocket-key", std::string(key.substr(0, key.find('\r')))});
  return welcome(request);
}

// A plain server for one client: it reads nothing behind the request until all that it says first is taken.
class TalksFirst {
 public:
  TalksFirst(std::string says, std::size_t hears) : says_(std::move(says)), hears_(hears) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int small = 64 << 10;  // Its sockets do not grow.
    EXPECT_EQ(::setsockopt(listener_.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    EXPECT_EQ(::setsockopt(listener_.get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this] { serve(); });
  }
  TalksFirst(const TalksFirst&) = delete;
  TalksFirst& operator=(const TalksFirst&) = delete;
  ~TalksFirst() { ::shutdown(listener_.get(), SHUT_RDWR); }  // Who waits for a client in vain ends.

  Url url() const { return {.scheme = "http", .host = "127.0.0.1", .port = port_, .path = ""}; }

 private:
  void serve() {
    client_.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos && hear(head)) {
    }
    say(welcome_to(head) + says_);
    for (std::string heard; heard.size() < hears_ && hear(heard);) {
    }
    say("\x82\x04"s + "done");
  }
  bool hear(std::string& into) {
    std::array<char, 65536> buffer;
    const ssize_t size = ::recv(client_.get(), buffer.data(), buffer.size(), 0);
    if (size > 0) into.append(buffer.data(), static_cast<std::size_t>(size));
    return size > 0;
  }
  void say(std::string_view text) {
    while (!text.empty()) {
      const ssize_t size = ::send(client_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (size <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(size));
    }
  }

  const std::string says_;
  const std::size_t hears_;
  const base::Fd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  base::Fd client_;
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

// A server over TLS that welcomes one client, then says what is no TLS, leaves, and resets the connection.
class BreaksOff {
 public:
  BreaksOff() : thread_([this] { serve(); }) {}
  BreaksOff(const BreaksOff&) = delete;
  BreaksOff& operator=(const BreaksOff&) = delete;
  ~BreaksOff() { listener_.close(); }

  WebSocket::Place place() const {
    Url url = listener_.url();
    url.scheme = "https";
    return {.server = url, .proxy = {}, .tls = TlsContext::load({.insecure = true, .only_http1 = true}).value()};
  }
  void wait_until_it_has() { thread_.join(); }

 private:
  void serve() {
    const base::Fd client = listener_.accept();
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(certificate_->current().get()), SSL_free);
    SSL_set_fd(ssl.get(), client.get());
    if (!client || SSL_accept(ssl.get()) != 1) return;
    std::string head;
    for (char byte = 0; !head.ends_with("\r\n\r\n") && SSL_read(ssl.get(), &byte, 1) == 1;) head += byte;
    const std::string answer = welcome_to(head);
    if (SSL_write(ssl.get(), answer.data(), static_cast<int>(answer.size())) <= 0) return;
    leave(client, "\x17\x03\x03\x00\x14no record of anybody"s);
    const linger hard{.l_onoff = 1, .l_linger = 0};
    EXPECT_EQ(::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
  }

  const std::shared_ptr<ServerCertificate> certificate_ = ServerCertificate::self_signed({"127.0.0.1"}).value();
  PlainServer listener_;
  std::jthread thread_;
};

// What came can still be read then, and TLS has something to say to it, where whoever writes is sent SIGPIPE.
TEST(WebSocketTest, who_reads_the_last_of_a_peer_that_is_gone_lives_on) {
  BreaksOff server;
  auto opened = WebSocket::open(server.place(), get("/"), "second", soon(), {});
  ASSERT_TRUE(opened) << opened.error().message();
  server.wait_until_it_has();
  const auto received = std::get<WebSocket>(*opened).receive(soon(), {});
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().fault(), base::Fault::unavailable) << received.error().message();
}

TEST(WebSocketTest, both_sides_may_have_more_to_say_than_fits_into_the_sockets) {
  constexpr std::size_t kMuch = 0x2000000;  // 32 MiB, for Linux lets our socket grow to some.
  TalksFirst server("\x82\x7f\0\0\0\0\x02\0\0\0"s + std::string(kMuch, 'x'), kMuch);
  auto opened = WebSocket::open({.server = server.url(), .proxy = {}, .tls = TlsContext::load({}).value()},
                                {.method = "GET", .target = "/", .headers = {}, .body = {}}, "second", soon(60s), {});
  ASSERT_TRUE(opened) << opened.error().message();
  auto& socket = std::get<WebSocket>(*opened);
  const auto sent = socket.send(std::string(kMuch, 'y'), soon(60s), {});
  ASSERT_TRUE(sent) << sent.error().message();
  EXPECT_EQ(socket.receive(soon(60s), {}).value().value_or("").size(), kMuch);
  EXPECT_EQ(socket.receive(soon(60s), {}).value(), "done");
}

TEST(WebSocketTest, what_comes_while_we_send_has_a_limit) {
  constexpr std::size_t kMuch = 0x2000000;
  TalksFirst server("\x82\x7f\0\0\0\0\x02\0\0\0"s + std::string(kMuch, 'x'), kMuch);
  auto opened = WebSocket::open(
      {.server = server.url(), .proxy = {}, .tls = TlsContext::load({}).value(), .tuning = {.max_body_bytes = 100'000}},
      {.method = "GET", .target = "/", .headers = {}, .body = {}}, "second", soon(60s), {});
  ASSERT_TRUE(opened) << opened.error().message();
  const auto sent = std::get<WebSocket>(*opened).send(std::string(kMuch, 'y'), soon(60s), {});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().fault(), base::Fault::invalid) << sent.error().message();
}

}  // namespace
}  // namespace http
