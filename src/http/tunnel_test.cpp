#include "http/tunnel.h"

#include <chrono>

#include <gtest/gtest.h>

#include "http/client.h"
#include "http/one_time_proxy_test.h"
#include "http/scripted_server_test.h"

namespace http {
namespace {

using namespace std::chrono_literals;

base::Result<Response> ask_through(OneTimeProxy& proxy, const ScriptedServer& server, const std::string& user = "") {
  Url url = proxy.url();
  url.user = user;
  Client client(server.url(), *TlsContext::load(server.trust()), {}, url);
  Request request;
  request.target = "/";
  return client.send(std::move(request), base::SteadyClock().now() + 20s);
}

TEST(Tunnel, leads_through_the_proxy_to_the_server) {
  ScriptedServer server([](auto& self, const auto& call) { self.answer(call, 200, "hello"); });
  OneTimeProxy proxy("HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n", server.url().port);
  const auto response = ask_through(proxy, server);
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_EQ(response->body, "hello");
  const std::string authority = server.url().authority();
  EXPECT_EQ(proxy.asked(), "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
}

TEST(Tunnel, the_proxy_is_told_who_asks) {
  ScriptedServer server([](auto& self, const auto& call) { self.answer(call, 200, "hello"); });
  OneTimeProxy proxy("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", 0);
  const auto refused = ask_through(proxy, server, "me:secret");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message().find("secret"), std::string::npos) << refused.error().message();
  EXPECT_TRUE(proxy.asked().ends_with("\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n\r\n")) << proxy.asked();
  OneTimeProxy other("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", 0);
  EXPECT_FALSE(ask_through(other, server, "me"));
  EXPECT_TRUE(other.asked().ends_with("\r\nProxy-Authorization: Basic bWU6\r\n\r\n")) << "without a password";
}

TEST(Tunnel, a_refusal_is_told_in_the_proxys_words) {
  ScriptedServer server([](auto& self, const auto& call) { self.answer(call, 200, "hello"); });
  OneTimeProxy proxy("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", 0);
  const auto response = ask_through(proxy, server);
  ASSERT_FALSE(response);
  EXPECT_NE(response.error().message().find("the proxy refused: HTTP/1.1 407 Proxy Authentication Required"),
            std::string::npos)
      << response.error().message();
  EXPECT_EQ(server.accepted(), 0);
}

TEST(Tunnel, garbage_and_silence_are_no_tunnel) {
  ScriptedServer server([](auto& self, const auto& call) { self.answer(call, 200, "hello"); });
  for (const char* const answer : {"", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 2\r\n"}) {
    OneTimeProxy proxy(answer, 0);
    EXPECT_FALSE(ask_through(proxy, server)) << answer;
  }
}

}  // namespace
}  // namespace http
