#pragma once

#include <cstdint>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <vector>

#include "base/result.h"

namespace http {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  std::string text() const;  // "[::1]:6443"
};

// A name on its way to addresses. The resolver of the C library cannot be interrupted, so it works on a thread of its
// own, which is left to itself when nobody waits any more. A literal address is there at once, and so is the path of a
// Unix socket, which a host is that begins with a slash.
class Resolution {
 public:
  Resolution(const std::string& host, std::uint16_t port);
  explicit Resolution(std::vector<SocketAddress> known);

  int fd() const;  // Becomes readable when the answer is there.
  bool done() const;
  base::Result<std::vector<SocketAddress>> take();  // Once, when done.

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace http
