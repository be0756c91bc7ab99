#include "http/connection.h"

#include <array>
#include <cerrno>
#include <netinet/tcp.h>
#include <poll.h>

#include <climits>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace http {
namespace {

using base::fail;
using base::Fault;

constexpr std::size_t kRecordSize = 16U << 10U;  // The largest TLS record.
constexpr int kReadsAtOnce = 64;                 // Then other connections and the callers have a turn.

std::string handshake_error(const SSL* ssl) {
  const long verdict = SSL_get_verify_result(ssl);
  if (verdict != X509_V_OK) {
    ERR_clear_error();
    return fmt::format("TLS: the server's certificate: {}", X509_verify_cert_error_string(verdict));
  }
  return tls_error("TLS handshake");
}

bool speaks_http2(const SSL* ssl) {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl, &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

}  // namespace

Connection::Connection(const Url& server, const std::optional<Url>& proxy, TlsContext tls, const Tuning& tuning,
                       base::TimePoint now)
    : server_(server),
      tls_(std::move(tls)),
      tuning_(tuning),
      session_(server.scheme, server.authority(), tuning),
      has_proxy_(proxy.has_value()),
      resolution_(proxy.value_or(server).host, proxy.value_or(server).port),
      wake_at_(now + tuning.dial_timeout),
      dial_until_(wake_at_) {}

int Connection::fd() const {
  return phase_ == Phase::resolving ? resolution_.fd() : socket_.get();
}

short Connection::events() const {
  if (phase_ == Phase::resolving) return POLLIN;
  if (phase_ == Phase::connecting) return POLLOUT;
  if (phase_ == Phase::tunnelling) return tunnel_->wants_write() ? POLLOUT : POLLIN;
  return wants_write_ ? POLLIN | POLLOUT : POLLIN;
}

void Connection::advance(base::TimePoint now) {
  if (phase_ == Phase::resolving && resolution_.done()) {
    auto found = resolution_.take();
    if (!found) return close(found.error());
    addresses_ = *std::move(found);
    dial_next(now);
  }
  if (phase_ == Phase::connecting) {
    if (const auto done = finish_connect(); !done) give_up_address(done.error(), now);
  }
  if (phase_ == Phase::tunnelling) {
    const auto through = tunnel_->advance(socket_.get());
    const auto begun = !through || !*through ? base::Status() : begin_handshake();
    if (!through || !begun) give_up_address(!through ? through.error() : begun.error(), now);
  }
  if (phase_ == Phase::handshaking) {
    const auto done = handshake();
    if (!done) {
      give_up_address(done.error(), now);
    } else if (*done) {
      phase_ = Phase::open;
      heard_at_ = now;
    }
  }
  if (phase_ == Phase::open) {
    serve(now);
  } else if (phase_ != Phase::closed && now >= dial_until_) {
    give_up_address(base::Error(Fault::timeout, "no connection in time"), now);
  }
}

void Connection::dial_next(base::TimePoint now) {
  while (next_address_ < addresses_.size()) {
    dial_until_ = wake_at_ = now + tuning_.dial_timeout;
    const auto dialled = dial(addresses_[next_address_++]);
    if (dialled) return;
    failures_ += fmt::format("{}{}", failures_.empty() ? "" : "; ", dialled.error().message());
  }
  close(base::Error(Fault::unavailable, fmt::format("{}: {}", server_.text(), failures_)));
}

base::Status Connection::dial(const SocketAddress& address) {
  socket_.reset(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_) return base::fail_errno("socket", errno);
  const int on = 1;
  (void)::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // Slower without, never wrong.
  if (::connect(socket_.get(), address.get(), address.size) != 0 && errno != EINPROGRESS) {
    return base::fail_errno("connect " + address.text(), errno);
  }
  phase_ = Phase::connecting;
  return {};
}

void Connection::give_up_address(const base::Error& error, base::TimePoint now) {
  if (phase_ != Phase::resolving) {
    failures_ += fmt::format("{}{}", failures_.empty() ? "" : "; ", error.message());
  } else {
    failures_ = fmt::format("look up {}: no answer in time", server_.host);
  }
  ssl_.reset();
  dial_next(now);
}

void Connection::close(const base::Error& error) {
  phase_ = Phase::closed;
  session_.fail_all(error);
  ssl_.reset();
  socket_.reset();
}

base::Status Connection::finish_connect() {
  const auto name = [this] { return "connect " + addresses_[next_address_ - 1].text(); };
  pollfd ready{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
  if (::poll(&ready, 1, 0) <= 0) return {};
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return base::fail_errno(name(), error);
  if (!has_proxy_) return begin_handshake();
  tunnel_.emplace(server_);
  phase_ = Phase::tunnelling;
  return {};
}

base::Status Connection::begin_handshake() {
  ssl_ = TRY(tls_.connect(socket_.get(), server_.host));
  phase_ = Phase::handshaking;
  return {};
}

base::Result<bool> Connection::handshake() {
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_.get());
  if (done == 1) {
    if (!speaks_http2(ssl_.get())) return fail(Fault::unavailable, "the server does not offer HTTP/2");
    wants_write_ = false;
    return true;
  }
  const int reason = SSL_get_error(ssl_.get(), done);
  wants_write_ = reason == SSL_ERROR_WANT_WRITE;
  if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) return false;
  return fail(Fault::unavailable, handshake_error(ssl_.get()));
}

void Connection::serve(base::TimePoint now) {
  const auto heard = read();
  // What we still have to say (a reason for going) is tried even when reading has failed.
  const auto written = write();
  if (!heard) return close(heard.error());
  if (!written) return close(written.error());
  if (const auto alive = watch_peer(now, *heard); !alive) return close(alive.error());
  const bool drained = (retired_ || session_.going_away()) && session_.empty() && unsent_.empty();
  if (drained || session_.over()) close(base::Error(Fault::unavailable, "the connection has ended"));
}

base::Result<bool> Connection::read() {
  std::array<char, kRecordSize> buffer;
  for (int i = 0; i < kReadsAtOnce; ++i) {
    ERR_clear_error();
    const int size = SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()));
    if (size > 0) {
      TRY(session_.receive({buffer.data(), static_cast<std::size_t>(size)}));
      continue;
    }
    const int reason = SSL_get_error(ssl_.get(), size);
    if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) {
      wake_at_ = base::TimePoint::max();
      return i > 0;
    }
    return fail(Fault::unavailable, fmt::format("{}: connection lost", server_.text()));
  }
  wake_at_ = base::TimePoint::min();  // TLS may hold more that poll() cannot see: come back at once.
  return true;
}

// Frames are put together to about one TLS record: a request is one packet then, not three.
base::Status Connection::gather() {
  unsent_.clear();
  unsent_from_ = 0;
  while (unsent_.size() < kRecordSize) {
    const auto frame = TRY(session_.outgoing());
    if (frame.empty()) break;
    unsent_ += frame;
  }
  return {};
}

base::Status Connection::write() {
  wants_write_ = false;
  for (;;) {
    if (unsent_from_ == unsent_.size()) TRY(gather());
    if (unsent_.empty()) return {};
    ERR_clear_error();
    const auto rest = std::string_view(unsent_).substr(unsent_from_);
    const int size = SSL_write(ssl_.get(), rest.data(), static_cast<int>(std::min<std::size_t>(rest.size(), INT_MAX)));
    if (size > 0) {
      unsent_from_ += static_cast<std::size_t>(size);
      continue;
    }
    const int reason = SSL_get_error(ssl_.get(), size);
    wants_write_ = reason == SSL_ERROR_WANT_WRITE;
    if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) return {};
    return fail(Fault::unavailable, fmt::format("{}: connection lost", server_.text()));
  }
}

base::Status Connection::watch_peer(base::TimePoint now, bool heard) {
  if (heard) {
    heard_at_ = now;
    pinged_at_.reset();
  }
  if (!pinged_at_ && now >= heard_at_ + tuning_.ping_after) {
    session_.ping();
    pinged_at_ = now;
    TRY(write());
  }
  if (pinged_at_ && now >= *pinged_at_ + tuning_.ping_timeout) {
    return fail(Fault::unavailable, fmt::format("{}: the server is silent, even to a ping", server_.text()));
  }
  const auto due = pinged_at_ ? *pinged_at_ + tuning_.ping_timeout : heard_at_ + tuning_.ping_after;
  wake_at_ = std::min(wake_at_, due);
  return {};
}

}  // namespace http
