// The program of a pod that answers: sends every datagram that comes for port 8080 of the address it is given back.
#include <arpa/inet.h>
#include <array>
#include <csignal>
#include <cstdio>
#include <initializer_list>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char** argv) {
  for (const int signal : {SIGINT, SIGTERM}) (void)std::signal(signal, [](int) { ::_exit(0); });
  // Bound to the address: a host has several, and an answer from another than the asked one belongs to no connection.
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(8080);
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (argc != 2 || ::inet_pton(AF_INET, argv[1], &here.sin_addr) != 1 ||
      ::bind(socket, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0) {
    std::perror("echo ADDRESS");
    return 1;
  }
  std::array<char, 2048> bytes{};
  while (true) {
    sockaddr_storage client{};
    socklen_t size = sizeof client;
    auto* const from = reinterpret_cast<sockaddr*>(&client);
    const ssize_t got = ::recvfrom(socket, bytes.data(), bytes.size(), 0, from, &size);
    if (got >= 0) (void)::sendto(socket, bytes.data(), static_cast<std::size_t>(got), 0, from, size);  // As UDP is.
  }
}
