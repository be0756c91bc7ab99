#include "kernel/netlink/endpoint.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <libmnl/libmnl.h>

namespace kernel {
namespace {

// The kernel sizes a dump's datagrams by the largest read it has seen, up to 32 KiB. One size for every read, larger
// than that: a short read after a long one would cut the dump and swallow its end.
constexpr std::size_t kBufferSize = std::size_t{64} << 10U;

}  // namespace

void Endpoint::Close::operator()(mnl_socket* socket) const {
  mnl_socket_close(socket);
}

Endpoint::Endpoint(std::unique_ptr<mnl_socket, Close> socket) : socket_(std::move(socket)), buffer_(kBufferSize) {}

base::Result<Endpoint> Endpoint::open(Bus bus) {
  std::unique_ptr<mnl_socket, Close> socket(
      mnl_socket_open2(bus == Bus::route ? NETLINK_ROUTE : NETLINK_NETFILTER, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return base::fail_errno("open netlink socket", errno);
  if (mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0) return base::fail_errno("bind netlink socket", errno);
  return Endpoint(std::move(socket));
}

int Endpoint::fd() const {
  return mnl_socket_get_fd(socket_.get());
}

std::uint32_t Endpoint::port() const {
  return mnl_socket_get_portid(socket_.get());
}

base::Status Endpoint::set_option(int level, int option, int value) {
  if (::setsockopt(fd(), level, option, &value, sizeof(value)) == 0) return {};
  return base::fail_errno(fmt::format("netlink socket option {}/{}", level, option), errno);
}

base::Status Endpoint::send(std::span<const std::byte> bytes) {
  while (mnl_socket_sendto(socket_.get(), bytes.data(), bytes.size()) < 0) {
    if (errno != EINTR) return base::fail_errno("netlink send", errno);
  }
  return {};
}

base::Result<std::optional<std::span<const std::byte>>> Endpoint::receive(std::optional<base::TimePoint> deadline) {
  while (true) {
    sockaddr_nl from{};
    iovec part{.iov_base = buffer_.data(), .iov_len = buffer_.size()};
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof(from);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const ssize_t count = ::recvmsg(fd(), &message, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      if (deadline && wait_readable(*deadline)) continue;
      return std::nullopt;
    }
    if (count < 0) return base::fail_errno("netlink receive", errno);
    if ((message.msg_flags & MSG_TRUNC) != 0) return base::fail(base::Fault::kernel, "netlink answer was cut");
    if (from.nl_pid != 0) continue;  // Another process wrote to our port; only the kernel is believed.
    return std::span<const std::byte>(buffer_).first(static_cast<std::size_t>(count));
  }
}

bool Endpoint::wait_readable(base::TimePoint deadline) const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  if (left.count() <= 0) return false;  // However often it turned readable and then had nothing.
  pollfd watched{.fd = fd(), .events = POLLIN, .revents = 0};
  // Interrupted is not readable, but the caller's next read finds that out.
  return ::poll(&watched, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 1'000'000))) != 0;
}

}  // namespace kernel
