#include "http/tunnel.h"

#include <array>
#include <cerrno>
#include <sys/socket.h>

#include <fmt/format.h>

#include "http/base64.h"

namespace http {
namespace {

using base::fail;
using base::Fault;

constexpr std::size_t kLongestAnswer = 16U << 10U;
constexpr std::string_view kEnd = "\r\n\r\n";

bool would_block() {
  return errno == EAGAIN || errno == EINTR;
}

std::string authorization(std::string_view user) {
  if (user.empty()) return {};
  const bool has_password = user.contains(':');
  return fmt::format("Proxy-Authorization: Basic {}\r\n", base64(fmt::format("{}{}", user, has_password ? "" : ":")));
}

}  // namespace

Tunnel::Tunnel(const Url& server, std::string_view user)
    : unsent_(fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n{1}\r\n", server.authority(), authorization(user))) {}

base::Result<bool> Tunnel::advance(int socket) {
  while (!unsent_.empty()) {
    const ssize_t sent = ::send(socket, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent < 0 && would_block()) return false;
    if (sent < 0) return base::fail_errno("proxy: send", errno);
    unsent_.erase(0, static_cast<std::size_t>(sent));
  }
  // Byte by byte, so that nothing of what follows the answer is taken: it belongs to the server. It is short.
  while (!answer_.ends_with(kEnd)) {
    char byte = 0;
    const ssize_t got = ::recv(socket, &byte, 1, 0);
    if (got < 0 && would_block()) return false;
    if (got < 0) return base::fail_errno("proxy: receive", errno);
    if (got == 0 || answer_.size() == kLongestAnswer) return fail(Fault::unavailable, "proxy: no proper answer");
    answer_ += byte;
  }
  const std::string line = answer_.substr(0, answer_.find("\r\n"));
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line.substr(9, 1) != "2") {
    return fail(Fault::unavailable, fmt::format("the proxy refused: {}", line));
  }
  return true;
}

}  // namespace http
