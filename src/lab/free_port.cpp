#include "lab/free_port.h"

#include <arpa/inet.h>
#include <atomic>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/fd.h"

namespace lab {
namespace {

bool port_is_free(std::uint16_t port) {
  const base::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(port);
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
}

}  // namespace

std::uint16_t free_port() {
  static std::atomic<std::uint16_t> next{20000};
  std::uint16_t port = next++;
  while (!port_is_free(port)) port = next++;
  return port;
}

}  // namespace lab
