#include "http/dial.h"

#include <algorithm>
#include <cerrno>
#include <netinet/tcp.h>
#include <poll.h>

#include <fmt/format.h>

namespace http {

using base::Fault;

std::chrono::milliseconds share_of(std::chrono::milliseconds patience, std::size_t left) {
  constexpr std::chrono::milliseconds kLeast{2'000};  // TCP says its first word again after one second.
  const auto share = patience / static_cast<std::chrono::milliseconds::rep>(left);
  return std::min(patience, std::max(share, kLeast));
}

Dial::Dial(const Url& server, const std::optional<Url>& proxy, TlsContext tls, std::chrono::milliseconds patience,
           base::TimePoint now)
    : Dial(server, proxy, Resolution(proxy.value_or(server).host, proxy.value_or(server).port), std::move(tls),
           patience, now) {}

Dial::Dial(const Url& server, const std::optional<Url>& proxy, Resolution resolution, TlsContext tls,
           std::chrono::milliseconds patience, base::TimePoint now)
    : server_(server),
      tls_(std::move(tls)),
      patience_(patience),
      proxy_(proxy),
      resolution_(std::move(resolution)),
      until_(now + patience) {}

int Dial::fd() const {
  return phase_ == Phase::resolving ? resolution_->fd() : wire_.fd();
}

short Dial::events() const {
  if (phase_ == Phase::resolving) return POLLIN;
  if (phase_ == Phase::connecting) return POLLOUT;
  if (phase_ == Phase::tunnelling) return tunnel_->wants_write() ? POLLOUT : POLLIN;
  return static_cast<short>(POLLIN | (wire_.wants_write() ? POLLOUT : 0));
}

base::Result<bool> Dial::advance(base::TimePoint now) {
  if (phase_ == Phase::resolving && resolution_->done()) {
    addresses_ = TRY(resolution_->take());
    resolution_.reset();
    TRY(dial_next(now));
  }
  const auto connected = step();
  if (!connected) {
    TRY(give_up_address(connected.error(), now));
  } else if (!*connected && now >= until_) {
    TRY(give_up_address(base::Error(Fault::timeout, "no connection in time"), now));
  }
  return connected && *connected;
}

base::Result<bool> Dial::step() {
  if (phase_ == Phase::connecting) TRY(finish_connect());
  if (phase_ == Phase::tunnelling) {
    const bool through = TRY(tunnel_->advance(wire_.fd()));
    if (through) TRY(begin_session());
  }
  if (phase_ != Phase::handshaking) return false;
  return server_.scheme == "http" ? true : wire_.handshake();
}

base::Status Dial::dial_next(base::TimePoint now) {
  while (next_address_ < addresses_.size()) {
    until_ = now + share_of(patience_, addresses_.size() - next_address_);
    const auto dialled = dial(addresses_[next_address_++]);
    if (dialled) return {};
    failures_ += fmt::format("{}{}", failures_.empty() ? "" : "; ", dialled.error().message());
  }
  return base::fail(Fault::unavailable, fmt::format("{}: {}", server_.text(), failures_));
}

base::Status Dial::dial(const SocketAddress& address) {
  wire_ = Wire(base::Fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
  if (wire_.fd() < 0) return base::fail_errno("socket", errno);
  const int on = 1;
  (void)::setsockopt(wire_.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // Slower without, never wrong.
  if (::connect(wire_.fd(), address.get(), address.size) != 0 && errno != EINPROGRESS) {
    return base::fail_errno("connect " + address.text(), errno);
  }
  phase_ = Phase::connecting;
  return {};
}

base::Status Dial::give_up_address(const base::Error& error, base::TimePoint now) {
  if (phase_ != Phase::resolving) {
    failures_ += fmt::format("{}{}", failures_.empty() ? "" : "; ", error.message());
  } else {
    failures_ = fmt::format("look up {}: no answer in time", server_.host);
  }
  return dial_next(now);
}

base::Status Dial::finish_connect() {
  const auto name = [this] { return "connect " + addresses_[next_address_ - 1].text(); };
  pollfd ready{.fd = wire_.fd(), .events = POLLOUT, .revents = 0};
  if (::poll(&ready, 1, 0) <= 0) return {};
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(wire_.fd(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return base::fail_errno(name(), error);
  if (!proxy_) return begin_session();
  tunnel_.emplace(server_, proxy_->user);
  phase_ = Phase::tunnelling;
  return {};
}

base::Status Dial::begin_session() {
  if (server_.scheme == "https") TRY(wire_.secure(tls_, server_.host));
  phase_ = Phase::handshaking;
  return {};
}

}  // namespace http
