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

// False when the connection has ended.
bool echo(int connection) {
  std::array<char, 2048> text;
  const ssize_t size = ::recv(connection, text.data(), text.size(), 0);
  if (size < 0) return errno == EAGAIN || errno == EINTR;
  if (size == 0) return false;
  return ::send(connection, text.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
}

class Server {
 public:
  Server(const std::vector<base::Fd>& datagrams, const std::vector<base::Fd>& listeners, int stop) {
    watch(stop);
    for (const base::Fd& socket : datagrams) watch(socket.get());
    first_listener_ = waiting_.size();
    for (const base::Fd& socket : listeners) watch(socket.get());
    first_connection_ = waiting_.size();
  }

  void run() {
    while (true) {
      if (::poll(waiting_.data(), waiting_.size(), -1) < 0 && errno != EINTR) return;
      if (waiting_.front().revents != 0) return;
      for (std::size_t i = 1; i < first_listener_; ++i) {
        if (waiting_[i].revents != 0) answer_one(waiting_[i].fd);
      }
      serve_connections();
      for (std::size_t i = first_listener_; i < first_connection_; ++i) {
        if (waiting_[i].revents != 0) accept_one(waiting_[i].fd);
      }
    }
  }

 private:
  void watch(int fd) { waiting_.push_back({.fd = fd, .events = POLLIN, .revents = 0}); }

  void accept_one(int listener) {
    base::Fd connection(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) return;  // It has gone again.
    watch(connection.get());
    connections_.push_back(std::move(connection));
  }

  void serve_connections() {
    for (std::size_t i = connections_.size(); i-- > 0;) {
      const std::size_t place = first_connection_ + i;
      if (waiting_[place].revents == 0 || echo(waiting_[place].fd)) continue;
      connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(i));
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(place));
    }
  }

  std::vector<pollfd> waiting_;
  std::size_t first_listener_ = 0;
  std::size_t first_connection_ = 0;
  std::vector<base::Fd> connections_;  // In the order in which they stand at the end of waiting_.
};

base::Result<base::Fd> open_socket(const Host& host, const net::Address& address, int type, std::uint16_t port) {
  base::Fd socket;
  const auto bind_inside = [&]() -> base::Status {
    const int family = address.family() == net::Family::v4 ? AF_INET : AF_INET6;
    socket.reset(::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return base::fail_errno("socket", errno);
    const SocketAddress place = socket_address(address, port);
    if (::bind(socket.get(), place.get(), place.size) != 0)
      return base::fail_errno(fmt::format("bind {} on {}", address.text(), host.name()), errno);
    return {};
  };
  TRY(host.within(bind_inside));
  return socket;
}

}  // namespace

base::Result<base::Fd> bind_udp(const Host& host, const net::Address& address, std::uint16_t port) {
  return open_socket(host, address, SOCK_DGRAM, port);
}

base::Result<base::Fd> listen_tcp(const Host& host, const net::Address& address, std::uint16_t port) {
  base::Fd socket = TRY(open_socket(host, address, SOCK_STREAM, port));
  if (::listen(socket.get(), SOMAXCONN) != 0)
    return base::fail_errno(fmt::format("listen on {}", address.text()), errno);
  return socket;
}

base::Result<base::Fd> connect_tcp(const Host& host, const net::Address& from, std::uint16_t from_port,
                                   const net::Address& to, std::uint16_t port) {
  base::Fd socket = TRY(open_socket(host, from, SOCK_STREAM, from_port));
  const SocketAddress peer = socket_address(to, port);
  if (::connect(socket.get(), peer.get(), peer.size) != 0 && errno != EINPROGRESS)
    return base::fail_errno(fmt::format("connect to {}", to.text()), errno);
  return socket;
}

base::Status connect_udp(const base::Fd& socket, const net::Address& address, std::uint16_t port) {
  const SocketAddress peer = socket_address(address, port);
  if (::connect(socket.get(), peer.get(), peer.size) != 0)
    return base::fail_errno(fmt::format("connect to {}", address.text()), errno);
  return {};
}

base::Result<Responder> Responder::start(std::vector<base::Fd> datagrams, std::vector<base::Fd> listeners) {
  base::Fd stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop) return base::fail_errno("eventfd", errno);
  std::thread thread([datagrams = std::move(datagrams), listeners = std::move(listeners), fd = stop.get()] {
    Server(datagrams, listeners, fd).run();
  });
  return Responder(std::move(stop), std::move(thread));
}

Responder::~Responder() {
  if (!thread_.joinable()) return;
  (void)::eventfd_write(stop_.get(), 1);  // Cannot fail: the counter is far from full.
  thread_.join();
}

}  // namespace lab
