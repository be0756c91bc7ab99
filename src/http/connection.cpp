#include "http/connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <netinet/tcp.h>
#include <poll.h>
#include <span>

#include <fmt/format.h>

#include "http/http1_session.h"
#include "http/http2_session.h"

namespace http {
namespace {

using base::fail;
using base::Fault;

constexpr std::size_t kRecordSize = 16U << 10U;  // The largest TLS record.
constexpr std::size_t kReadAtOnce = 64U << 10U;  // What the session is given in one piece.
constexpr int kPieces = 16;                      // Then other connections and the callers have a turn.

constexpr std::size_t kKeptUnsent = 4 * kRecordSize;  // Of what is sent: over HTTP/1.1 a request is in one piece.

// A server sends a list in thousands of small records. Where so much comes in so short a time, it is left to gather for
// a moment: to wake up for each record would cost both sides more than the moment does.
constexpr std::size_t kMuch = 32U << 10U;
constexpr auto kShortTime = std::chrono::milliseconds(10);
constexpr auto kMoment = std::chrono::milliseconds(1);

// HTTP/1.1 has no ping: TCP asks the peer instead, at the same pace, and gives it up as soon.
void let_tcp_ping(int socket, const Tuning& tuning) {
  using std::chrono::seconds;
  constexpr int kProbes = 3;
  const auto whole = [](std::chrono::milliseconds time) {
    return static_cast<int>(std::max<seconds::rep>(1, std::chrono::duration_cast<seconds>(time).count()));
  };
  const auto set = [&](int level, int option, int value) {
    (void)::setsockopt(socket, level, option, &value, sizeof value);  // Later noticed without, never wrong.
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, whole(tuning.ping_after));
  set(IPPROTO_TCP, TCP_KEEPINTVL, whole(tuning.ping_timeout / kProbes));
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>((tuning.ping_after + tuning.ping_timeout).count()));
}

}  // namespace

Connection::Connection(const Url& server, const std::optional<Url>& proxy, TlsContext tls, const Tuning& tuning,
                       Protocol expected, base::TimePoint now)
    : server_(server),
      tuning_(tuning),
      protocol_(server.scheme == "http" ? Protocol::http1 : expected),
      dial_(std::in_place, server, proxy, std::move(tls), tuning.dial_timeout, now) {}

bool Connection::takes_requests() const {
  if (closed() || retired_) return false;
  if (session_) return session_->takes_requests();
  return protocol_ != Protocol::http1 || waiting_.empty();
}

void Connection::start(std::shared_ptr<Exchange> exchange) {
  session_ ? session_->start(std::move(exchange)) : waiting_.push_back(std::move(exchange));
}

bool Connection::cancel(const Exchange& exchange) {
  const auto waits = std::ranges::find(waiting_, &exchange, [](const auto& one) { return one.get(); });
  if (waits == waiting_.end()) return session_ && session_->cancel(exchange);
  (*waits)->fail({Fault::cancelled, "the request was given up"});
  waiting_.erase(waits);
  return true;
}

bool Connection::consumed(const Exchange& exchange, std::size_t bytes) {
  return session_ && session_->consumed(exchange, bytes);
}

std::vector<std::shared_ptr<Exchange>> Connection::take_refused() {
  auto out = std::exchange(turned_away_, {});
  if (session_) std::ranges::move(session_->take_refused(), std::back_inserter(out));
  return out;
}

void Connection::fail_all(const base::Error& error) {
  for (const auto& exchange : std::exchange(waiting_, {})) exchange->fail(error);
  if (session_) session_->fail_all(error);
}

bool Connection::drains() const {
  return session_ && session_->going_away() && !session_->empty();
}

int Connection::fd() const {
  return dial_ ? dial_->fd() : wire_.fd();
}

short Connection::events() const {
  if (dial_) return dial_->events();
  const bool wants_input = !session_ || (session_->wants_input() && !gathers_);
  return static_cast<short>((wants_input ? POLLIN : 0) | (wire_.wants_write() ? POLLOUT : 0));
}

void Connection::advance(base::TimePoint now) {
  if (phase_ == Phase::dialling) {
    const auto connected = dial_->advance(now);
    if (!connected) return close(connected.error());
    if (*connected) open(now);
  }
  if (phase_ == Phase::open) serve(now);
}

void Connection::look(base::TimePoint now) {
  if (phase_ != Phase::open || protocol_ != Protocol::http1 || !session_->empty()) return;
  read_from_ = now;  // What was left to gather belonged to an answer that has ended.
  serve(now);
}

void Connection::close(const base::Error& error) {
  phase_ = Phase::closed;
  fail_all(error);
  dial_.reset();
  wire_ = Wire();
}

void Connection::open(base::TimePoint now) {
  phase_ = Phase::open;
  wire_ = dial_->take();
  dial_.reset();
  heard_at_ = now;
  protocol_ = wire_.protocol() == "h2" ? Protocol::http2 : Protocol::http1;
  if (protocol_ == Protocol::http2) {
    session_ = std::make_unique<Http2Session>(server_.scheme, server_.authority(), tuning_);
  } else {
    session_ = std::make_unique<Http1Session>(server_.authority(), tuning_);
    let_tcp_ping(wire_.fd(), tuning_);
  }
  for (auto& exchange : std::exchange(waiting_, {})) {
    session_->takes_requests() ? session_->start(std::move(exchange)) : turned_away_.push_back(std::move(exchange));
  }
}

void Connection::serve(base::TimePoint now) {
  gathers_ = now < read_from_;
  const auto heard = gathers_ ? base::Result<bool>(false) : read(now);
  if (gathers_) wake_at_ = read_from_;
  if (!heard) session_->input_lost();
  // What we still have to say (a reason for going) is tried even when reading has failed.
  const auto written = write();
  if (!heard) return close(heard.error());
  if (!written) return close(written.error());
  if (const auto alive = watch_peer(now, *heard); !alive) return close(alive.error());
  const bool drained = (retired_ || session_->going_away()) && session_->empty() && unsent_.empty();
  if (drained || session_->over()) close(base::Error(Fault::unavailable, "the connection has ended"));
}

base::Result<bool> Connection::read(base::TimePoint now) {
  std::array<char, kReadAtOnce> buffer;
  for (int i = 0; i < kPieces; ++i) {
    std::size_t filled = 0;
    base::Result<std::size_t> size = std::size_t{0};
    while (session_->wants_input() && filled < buffer.size()) {
      size = wire_.read(std::span(buffer).subspan(filled));
      if (!size || *size == 0) break;
      filled += *size;
      if (received_ <= kMuch && !wire_.holds_more()) break;
    }
    if (filled > 0) TRY(session_->receive({buffer.data(), filled}));
    note_received(filled, now);
    if (!size) {
      if (wire_.ended()) session_->input_ended();
      return std::unexpected(lost(size.error()));
    }
    if (filled < buffer.size()) {
      wake_at_ = gathers_ ? read_from_ : base::TimePoint::max();
      return i > 0 || filled > 0;
    }
  }
  wake_at_ = base::TimePoint::min();  // TLS may hold more that poll() cannot see: come back at once.
  return true;
}

void Connection::note_received(std::size_t size, base::TimePoint now) {
  if (now > counted_from_ + kShortTime) {
    counted_from_ = now;
    received_ = 0;
  }
  received_ += size;
  gathers_ = received_ > kMuch;
  if (gathers_) read_from_ = now + kMoment;
}

// Frames are put together to about one TLS record: a request is one packet then, not three.
base::Status Connection::gather() {
  unsent_.clear();
  unsent_from_ = 0;
  if (unsent_.capacity() > kKeptUnsent) unsent_.shrink_to_fit();
  while (unsent_.size() < kRecordSize) {
    const auto frame = TRY(session_->outgoing());
    if (frame.empty()) break;
    unsent_ += frame;
  }
  return {};
}

base::Status Connection::write() {
  for (;;) {
    if (unsent_from_ == unsent_.size()) TRY(gather());
    if (unsent_.empty()) return {};
    const auto size = wire_.write(std::string_view(unsent_).substr(unsent_from_));
    if (!size) return std::unexpected(lost(size.error()));
    if (*size == 0) return {};
    unsent_from_ += *size;
  }
}

base::Error Connection::lost(base::Error error) const {
  return std::move(error).within(server_.text());
}

base::Status Connection::watch_peer(base::TimePoint now, bool heard) {
  if (heard) {
    heard_at_ = now;
    pinged_at_.reset();
  }
  if (!pinged_at_ && now >= heard_at_ + tuning_.ping_after) {
    if (!session_->ping()) return {};
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
