#include "http/websocket.h"

#include <memory>

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "http/scripted_server_test.h"

namespace http {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

// As a server answers the key (RFC 6455, 4.2.2).
std::string accept_of(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  std::array<char, 64> out{};
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), digest.data(), static_cast<int>(size));
  return out.data();
}

std::string welcome(const Request& request, const std::string& protocol = "second") {
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
         accept_of(find(request.headers, "sec-websocket-key").value_or("")) +
         "\r\nSec-WebSocket-Protocol: " + protocol + "\r\n\r\n";
}

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

}  // namespace
}  // namespace http
