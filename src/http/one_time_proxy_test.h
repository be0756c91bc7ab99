#pragma once

#include <array>
#include <cstdint>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>

#include "base/fd.h"
#include "http/plain_server_test.h"

namespace http {

// A proxy for one connection: it says `answer` to the first request and then passes bytes on to the target.
class OneTimeProxy {
 public:
  OneTimeProxy(std::string answer, std::uint16_t target) : answer_(std::move(answer)), target_(target) {
    thread_ = std::jthread([this] { serve(); });
  }
  OneTimeProxy(const OneTimeProxy&) = delete;
  OneTimeProxy& operator=(const OneTimeProxy&) = delete;
  ~OneTimeProxy() { listener_.close(); }

  Url url() const { return listener_.url(); }
  // When its connection has ended, or if there was none.
  const std::string& asked() {
    listener_.close();
    if (thread_.joinable()) thread_.join();
    return asked_;
  }

 private:
  void serve() {
    const base::Fd client = listener_.accept();
    asked_ = read_until(client, "\r\n\r\n");
    if (asked_.empty()) return;
    say(client, answer_);
    const base::Fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
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

  PlainServer listener_;
  std::string answer_;
  std::uint16_t target_;
  std::string asked_;
  std::jthread thread_;
};

}  // namespace http
