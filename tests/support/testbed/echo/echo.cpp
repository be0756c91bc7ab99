// The program of a pod that answers: sends every datagram back that comes for port 8080 of the addresses it is given,
// as Kubernetes lists those of a pod: 10.244.11.2,fd00:10:244:11::2
#include <arpa/inet.h>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <netinet/in.h>
#include <poll.h>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::uint16_t kPort = 8080;

// Bound to the address: a host has several, and an answer from another than the asked one belongs to no connection. -1:
// it cannot be bound.
int open_socket(const std::string& address) {
  sockaddr_in6 v6{.sin6_family = AF_INET6, .sin6_port = htons(kPort)};
  sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(kPort)};
  const bool is_v4 = ::inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1;
  if (!is_v4 && ::inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) != 1) return -1;
  const int socket = ::socket(is_v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto* const here = is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
  return ::bind(socket, here, is_v4 ? sizeof v4 : sizeof v6) == 0 ? socket : -1;
}

void answer_one(int socket) {
  std::array<char, 2048> bytes{};
  sockaddr_storage client{};
  socklen_t size = sizeof client;
  auto* const from = reinterpret_cast<sockaddr*>(&client);
  const ssize_t got = ::recvfrom(socket, bytes.data(), bytes.size(), 0, from, &size);
  if (got >= 0) (void)::sendto(socket, bytes.data(), static_cast<std::size_t>(got), 0, from, size);  // As UDP is.
}

}  // namespace

int main(int argc, char** argv) {
  for (const int signal : {SIGINT, SIGTERM}) (void)std::signal(signal, [](int) { ::_exit(0); });
  std::vector<pollfd> sockets;
  std::istringstream addresses(argc == 2 ? argv[1] : "");
  for (std::string address; std::getline(addresses, address, ',');) {
    sockets.push_back({.fd = open_socket(address), .events = POLLIN, .revents = 0});
    if (sockets.back().fd >= 0) continue;
    std::perror(address.c_str());
    return 1;
  }
  while (::poll(sockets.data(), sockets.size(), -1) >= 0) {
    for (const pollfd& one : sockets) {
      if ((one.revents & POLLIN) != 0) answer_one(one.fd);
    }
  }
}
