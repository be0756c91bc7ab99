#include "http/tunnel.h"

#include <array>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

#include <gtest/gtest.h>

#include "base/fd.h"
#include "http/client.h"
#include "http/scripted_server_test.h"

namespace http {
namespace {

using namespace std::chrono_literals;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

// A proxy for one connection: it says `answer` to the first request and then passes bytes on to the target.
class OneTimeProxy {
 public:
  OneTimeProxy(std::string answer, std::uint16_t target) : answer_(std::move(answer)), target_(target) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this] { serve(); });
  }
  Url url() const { return {.scheme = "http", .host = "127.0.0.1", .port = port_, .path = ""}; }
  const std::string& asked() {
    if (thread_.joinable()) thread_.join();
    return asked_;
  }

 private:
  void serve() {
    const base::Fd client(::accept(listener_.get(), nullptr, nullptr));
    while (!asked_.ends_with("\r\n\r\n")) {
      char byte = 0;
      if (::recv(client.get(), &byte, 1, 0) != 1) return;
      asked_ += byte;
    }
    (void)::send(client.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
    const base::Fd server(::socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in address = loopback(target_);
    if (target_ == 0 || ::connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return;
    while (pass(client, server)) {
    }
  }
  static bool pass(const base::Fd& client, const base::Fd& server) {
    std::array<pollfd, 2> ready = {{{client.get(), POLLIN, 0}, {server.get(), POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), 20'000) <= 0) return false;
    for (std::size_t i = 0; i < 2; ++i) {
      if (ready[i].revents == 0) continue;
      std::array<char, 16384> buffer;
      const ssize_t got = ::recv(ready[i].fd, buffer.data(), buffer.size(), 0);
      if (got <= 0) return false;
      (void)::send(ready[1 - i].fd, buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL);
    }
    return true;
  }

  base::Fd listener_{::socket(AF_INET, SOCK_STREAM, 0)};
  std::string answer_;
  std::uint16_t target_;
  std::uint16_t port_ = 0;
  std::string asked_;
  std::jthread thread_;
};

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
