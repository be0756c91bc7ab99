#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>

#include <gtest/gtest.h>

#include "base/fd.h"
#include "http/url.h"

namespace http {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

// A socket on loopback without TLS whose connections the test holds itself: for what depends on what has reached the
// other side, and when.
class PlainServer {
 public:
  PlainServer() {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }

  Url url() const { return {.scheme = "http", .host = "127.0.0.1", .port = port_, .path = ""}; }
  base::Fd accept() { return base::Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }
  void close() { (void)::shutdown(listener_.get(), SHUT_RDWR); }  // Nobody waits for a connection any longer.

 private:
  base::Fd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::uint16_t port_ = 0;
};

// What comes until `end`, or until the connection's.
inline std::string read_until(const base::Fd& connection, std::string_view end) {
  std::string out;
  char byte = 0;
  while (!out.ends_with(end) && ::recv(connection.get(), &byte, 1, 0) == 1) out += byte;
  return out;
}

inline std::string read_bytes(const base::Fd& connection, std::size_t count) {
  std::string out(count, '\0');
  const ssize_t size = ::recv(connection.get(), out.data(), count, MSG_WAITALL);
  out.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return out;
}

inline std::string read_to_the_end(const base::Fd& connection) {
  std::array<char, 4096> bytes;
  std::string out;
  for (ssize_t size = 0; (size = ::recv(connection.get(), bytes.data(), bytes.size(), 0)) > 0;) {
    out.append(bytes.data(), static_cast<std::size_t>(size));
  }
  return out;
}

inline void say(const base::Fd& connection, std::string_view text) {
  (void)::send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

// All that was said, an end too, lies in the other side's socket then.
inline void wait_until_it_has_come(const base::Fd& connection) {
  for (int left = 1; ::ioctl(connection.get(), TIOCOUTQ, &left) == 0 && left > 0;) std::this_thread::yield();
}

// `last_words` and then no more.
inline void leave(const base::Fd& connection, std::string_view last_words) {
  say(connection, last_words);
  (void)::shutdown(connection.get(), SHUT_WR);
  wait_until_it_has_come(connection);
}

// From here on the connection takes in no packet, and so answers none: as if its host had lost its power.
inline void vanish(const base::Fd& connection) {
  struct Step {                 // The kernel's sock_filter,
    std::uint16_t code = 0x06;  // BPF_RET | BPF_K: so many bytes of the packet are kept.
    std::uint8_t if_true = 0;
    std::uint8_t if_false = 0;
    std::uint32_t kept = 0;
  } none;
  struct Program {  // and its sock_fprog.
    unsigned short length;
    const Step* steps;
  } const program{.length = 1, .steps = &none};
  EXPECT_EQ(::setsockopt(connection.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program), 0);
}

inline bool has_something_to_read(const base::Fd& connection) {
  pollfd ready{.fd = connection.get(), .events = POLLIN, .revents = 0};
  return ::poll(&ready, 1, 0) > 0;
}

}  // namespace http
