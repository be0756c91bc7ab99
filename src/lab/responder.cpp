#include "lab/responder.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <fmt/format.h>

namespace lab {
namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

SocketAddress socket_address(const net::Address& address, std::uint16_t port) {
  SocketAddress out;
  if (address.family() == net::Family::v4) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    std::memcpy(&in.sin_addr, address.bytes().data(), sizeof in.sin_addr);
    std::memcpy(&out.storage, &in, sizeof in);
    out.size = sizeof in;
  } else {
    sockaddr_in6 in6{};
    in6.sin6_family = AF_INET6;
    in6.sin6_port = htons(port);
    std::memcpy(&in6.sin6_addr, address.bytes().data(), sizeof in6.sin6_addr);
    std::memcpy(&out.storage, &in6, sizeof in6);
    out.size = sizeof in6;
  }
  return out;
}

void answer_one(int socket) {
  std::array<char, 2048> text;
  sockaddr_storage from{};
  socklen_t from_size = sizeof from;
  const ssize_t size = ::recvfrom(socket, text.data(), text.size(), 0, reinterpret_cast<sockaddr*>(&from), &from_size);
  if (size < 0) return;  // Nothing there after all, or an ICMP error about an earlier answer.
  // An answer that cannot be sent is what the lab shows in its count.
  (void)::sendto(socket, text.data(), static_cast<std::size_t>(size), 0, reinterpret_cast<const sockaddr*>(&from),
                 from_size);
}

void serve(const std::vector<base::Fd>& sockets, int stop) {
  std::vector<pollfd> waiting{{.fd = stop, .events = POLLIN, .revents = 0}};
  for (const base::Fd& socket : sockets) waiting.push_back({.fd = socket.get(), .events = POLLIN, .revents = 0});
  while (true) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return;
    if (waiting.front().revents != 0) return;
    for (const pollfd& socket : waiting) {
      if (socket.revents != 0) answer_one(socket.fd);
    }
  }
}

}  // namespace

base::Result<base::Fd> bind_udp(const Host& host, const net::Address& address, std::uint16_t port) {
  base::Fd socket;
  const auto bind_inside = [&]() -> base::Status {
    const int family = address.family() == net::Family::v4 ? AF_INET : AF_INET6;
    socket.reset(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return base::fail_errno("socket", errno);
    const SocketAddress place = socket_address(address, port);
    if (::bind(socket.get(), place.get(), place.size) != 0)
      return base::fail_errno(fmt::format("bind {} on {}", address.text(), host.name()), errno);
    return {};
  };
  TRY(host.within(bind_inside));
  return socket;
}

base::Status connect_udp(const base::Fd& socket, const net::Address& address, std::uint16_t port) {
  const SocketAddress peer = socket_address(address, port);
  if (::connect(socket.get(), peer.get(), peer.size) != 0)
    return base::fail_errno(fmt::format("connect to {}", address.text()), errno);
  return {};
}

base::Result<Responder> Responder::start(std::vector<base::Fd> sockets) {
  base::Fd stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop) return base::fail_errno("eventfd", errno);
  std::thread thread([sockets = std::move(sockets), fd = stop.get()] { serve(sockets, fd); });
  return Responder(std::move(stop), std::move(thread));
}

Responder::~Responder() {
  if (!thread_.joinable()) return;
  (void)::eventfd_write(stop_.get(), 1);  // Cannot fail: the counter is far from full.
  thread_.join();
}

}  // namespace lab
