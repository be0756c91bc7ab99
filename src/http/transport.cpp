#include "http/transport.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>

namespace http {
namespace {

using base::Fault;
using base::now;

constexpr int kMaxAttempts = 3;

// Signals belong to the main thread; and OpenSSL's write to a closed socket must be an error, not SIGPIPE.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  (void)::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

int poll_timeout(base::TimePoint until) {
  if (until == base::TimePoint::max()) return -1;
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(until - std::min(now(), until));
  return static_cast<int>(std::min<std::chrono::milliseconds::rep>(rest.count(), 60'000));
}

}  // namespace

Transport::Transport(Url server, TlsContext tls, const Tuning& tuning, std::optional<Url> proxy)
    : server_(std::move(server)),
      proxy_(std::move(proxy)),
      tuning_(tuning),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      tls_(std::move(tls)) {
  thread_ = std::jthread([this](std::stop_token stop) { run(std::move(stop)); });
}

Transport::~Transport() {
  thread_.request_stop();
  (void)::eventfd_write(wake_.get(), 1);
}

void Transport::start(std::shared_ptr<Exchange> exchange) {
  post(Start{std::move(exchange)});
}

void Transport::cancel(std::shared_ptr<Exchange> exchange) {
  post(Cancel{std::move(exchange)});
}

void Transport::consumed(std::shared_ptr<Exchange> exchange, std::size_t bytes) {
  post(Consumed{std::move(exchange), bytes});
}

void Transport::replace_tls(TlsContext tls) {
  post(std::move(tls));
}

void Transport::post(Order order) {
  {
    const std::lock_guard lock(mutex_);
    orders_.push_back(std::move(order));
    if (orders_.size() > 1) return;  // The first one has rung.
  }
  (void)::eventfd_write(wake_.get(), 1);
}

std::vector<Transport::Order> Transport::take_orders() {
  eventfd_t ignored = 0;
  (void)::eventfd_read(wake_.get(), &ignored);
  const std::lock_guard lock(mutex_);
  return std::exchange(orders_, {});
}

void Transport::run(std::stop_token stop) {
  block_signals();
  for (;;) {
    if (has_orders_) {
      for (Order& order : take_orders()) std::visit([this](auto& one) { carry_out(one); }, order);
    }
    if (stop.stop_requested()) break;  // Looked at behind take_orders(), which may have taken the ring for it.
    // By index: a drained connection may bring its successor to life meanwhile.
    for (std::size_t i = 0; i < connections_.size(); ++i) settle(*connections_[i]);
    std::erase_if(connections_, [](const auto& connection) { return connection->closed(); });
    wait();
  }
  const base::Error stopped(Fault::cancelled, "the client was closed");
  for (const auto& connection : connections_) connection->fail_all(stopped);
  for (Order& order : take_orders()) {
    if (auto* const start = std::get_if<Start>(&order)) start->exchange->fail(stopped);
  }
}

void Transport::carry_out(Start& order) {
  current().start(std::move(order.exchange));
}

void Transport::carry_out(Cancel& order) {
  for (const auto& connection : connections_) {
    if (connection->cancel(*order.exchange)) return;
  }
}

void Transport::carry_out(Consumed& order) {
  for (const auto& connection : connections_) {
    if (connection->consumed(*order.exchange, order.bytes)) return;
  }
}

void Transport::carry_out(TlsContext& order) {
  tls_ = std::move(order);
  for (const auto& connection : connections_) connection->retire();
}

void Transport::wait() {
  std::vector<pollfd> fds = {{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
  auto until = std::exchange(started_again_, false) ? base::TimePoint::min() : base::TimePoint::max();
  for (const auto& connection : connections_) {
    // Who waits for nothing is not looked at: poll() would tell of an error there again and again.
    const short events = connection->events();
    fds.push_back({.fd = events == 0 ? -1 : connection->fd(), .events = events, .revents = 0});
    until = std::min(until, connection->wake_at());
  }
  (void)::poll(fds.data(), fds.size(), poll_timeout(until));  // Which connection is ready is found out by trying.
  has_orders_ = fds.front().revents != 0;
}

Connection& Transport::current() {
  for (const auto& connection : connections_) {
    if (connection->takes_requests()) connection->look(now());
    if (connection->takes_requests()) return *connection;
  }
  return *connections_.emplace_back(std::make_unique<Connection>(server_, proxy_, tls_, tuning_, protocol_, now()));
}

void Transport::settle(Connection& connection) {
  const bool drained = connection.drains();
  connection.advance(now());
  if (connection.protocol() != Connection::Protocol::unknown) protocol_ = connection.protocol();
  for (auto& exchange : connection.take_refused()) retry(std::move(exchange));
  // The successor is there before the next request asks for it, while the streams of this one go on.
  if (!drained && connection.drains()) (void)current();
}

void Transport::retry(std::shared_ptr<Exchange> exchange) {
  if (exchange->attempts >= kMaxAttempts) {
    return exchange->fail({Fault::unavailable, "the server refuses the request again and again"});
  }
  current().start(std::move(exchange));
  started_again_ = true;
}

}  // namespace http
