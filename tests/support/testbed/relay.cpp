#include "testbed/relay.h"

#include <array>
#include <cstddef>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "testbed/cluster.h"

namespace testbed {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

base::Fd listen_on(std::uint16_t port) {
  base::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), 64) != 0) {
    throw std::runtime_error("relay: cannot listen");
  }
  return socket;
}

// What is there to read goes over whole. False: the connection is over.
bool pass_on(const base::Fd& from, const base::Fd& to) {
  std::array<std::byte, 65536> buffer;
  const ssize_t got = ::recv(from.get(), buffer.data(), buffer.size(), 0);
  if (got <= 0) return false;
  for (ssize_t sent = 0; sent < got;) {
    const ssize_t now = ::send(to.get(), buffer.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
    if (now <= 0) return false;
    sent += now;
  }
  return true;
}

}  // namespace

Relay::Relay(std::uint16_t target) : wake_(::eventfd(0, EFD_CLOEXEC)), port_(free_port()), target_(target) {
  listener_ = listen_on(port_);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Relay::~Relay() {
  thread_.request_stop();
  wake();
}

void Relay::lead_to(std::uint16_t target) {
  target_ = target;
  cut_ = true;
  wake();
}

void Relay::set_frozen(bool frozen) {
  frozen_ = frozen;
  wake();
}

void Relay::wake() {
  (void)::eventfd_write(wake_.get(), 1);
}

void Relay::accept_one() {
  base::Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  base::Fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(target_);
  if (!client || ::connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
  pairs_.push_back({.client = std::move(client), .server = std::move(server)});
  ++accepted_;
}

void Relay::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (cut_.exchange(false)) pairs_.clear();
    std::vector<pollfd> waits = {{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
    if (!frozen_) {
      waits.push_back({.fd = listener_.get(), .events = POLLIN, .revents = 0});
      for (const Pair& pair : pairs_) {
        waits.push_back({.fd = pair.client.get(), .events = POLLIN, .revents = 0});
        waits.push_back({.fd = pair.server.get(), .events = POLLIN, .revents = 0});
      }
    }
    if (::poll(waits.data(), waits.size(), -1) < 0) continue;
    if (waits[0].revents != 0) {
      eventfd_t count = 0;
      (void)::eventfd_read(wake_.get(), &count);
      continue;  // Something was ordered: look at that first.
    }
    std::size_t at = 2;
    for (auto pair = pairs_.begin(); pair != pairs_.end(); at += 2) {
      const bool well = (waits[at].revents == 0 || pass_on(pair->client, pair->server)) &&
                        (waits[at + 1].revents == 0 || pass_on(pair->server, pair->client));
      pair = well ? std::next(pair) : pairs_.erase(pair);
    }
    if (waits[1].revents != 0) accept_one();
  }
}

}  // namespace testbed
