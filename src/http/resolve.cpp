#include "http/resolve.h"

#include <atomic>
#include <cstring>
#include <netdb.h>
#include <optional>
#include <sys/eventfd.h>
#include <sys/un.h>
#include <thread>

#include <fmt/format.h>

#include "base/fd.h"

namespace http {

using Addresses = base::Result<std::vector<SocketAddress>>;

struct Resolution::State {
  base::Fd ready{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  Addresses addresses;  // Written before `done`, read after it.
  std::atomic<bool> done = false;

  void finish(Addresses found) {
    addresses = std::move(found);
    done = true;
    (void)::eventfd_write(ready.get(), 1);  // Cannot fail: the counter is 0.
  }
};

namespace {

Addresses lookup(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), fmt::format("{}", port).c_str(), &hints, &list);
  if (error != 0) {
    return base::fail(base::Fault::unavailable, fmt::format("look up {}: {}", host, ::gai_strerror(error)));
  }
  std::vector<SocketAddress> out;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    SocketAddress& address = out.emplace_back();
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
  }
  ::freeaddrinfo(list);
  return out;
}

Addresses unix_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return base::fail(base::Fault::invalid, fmt::format("{}: too long for a Unix socket", path));
  }
  path.copy(address.sun_path, path.size());
  SocketAddress out;
  std::memcpy(&out.storage, &address, sizeof address);
  out.size = sizeof address;
  return std::vector{out};
}

}  // namespace

std::string SocketAddress::text() const {
  if (family() == AF_UNIX) return reinterpret_cast<const sockaddr_un*>(&storage)->sun_path;
  char host[NI_MAXHOST] = "?";
  char port[NI_MAXSERV] = "?";
  (void)::getnameinfo(get(), size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  return family() == AF_INET6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Resolution::Resolution(const std::string& host, std::uint16_t port) : state_(std::make_shared<State>()) {
  if (host.starts_with('/')) {
    state_->finish(unix_socket(host));
    return;
  }
  auto literal = lookup(host, port, AI_NUMERICHOST);
  if (literal) {
    state_->finish(std::move(literal));
  } else {
    std::thread([state = state_, host, port] { state->finish(lookup(host, port, 0)); }).detach();
  }
}

Resolution::Resolution(std::vector<SocketAddress> known) : state_(std::make_shared<State>()) {
  state_->finish(std::move(known));
}

int Resolution::fd() const {
  return state_->ready.get();
}

bool Resolution::done() const {
  return state_->done;
}

Addresses Resolution::take() {
  return std::move(state_->addresses);
}

}  // namespace http
