#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <variant>
#include <vector>

#include "base/fd.h"
#include "http/connection.h"
#include "http/exchange.h"
#include "http/tls.h"
#include "http/tuning.h"
#include "http/url.h"

namespace http {

// The one thread that owns all sockets to one server. Callers post to it and wait at their Exchange. There is one
// connection for new requests, made when the first one needs it; older ones are kept only until they are drained. To a
// server without HTTP/2 there is one for each request that is under way, kept for later ones.
class Transport {
 public:
  Transport(Url server, TlsContext tls, const Tuning& tuning, std::optional<Url> proxy);
  ~Transport();  // What is under way fails with `cancelled`.

  // From any thread; none of them waits.
  void start(std::shared_ptr<Exchange> exchange);
  void cancel(std::shared_ptr<Exchange> exchange);
  void consumed(std::shared_ptr<Exchange> exchange, std::size_t bytes);
  void replace_tls(TlsContext tls);  // For connections from now on; the present one takes no more requests.

 private:
  struct Start {
    std::shared_ptr<Exchange> exchange;
  };
  struct Cancel {
    std::shared_ptr<Exchange> exchange;
  };
  struct Consumed {
    std::shared_ptr<Exchange> exchange;
    std::size_t bytes;
  };
  using Order = std::variant<Start, Cancel, Consumed, TlsContext>;

  void post(Order order);
  std::vector<Order> take_orders();

  // On the thread.
  void run(std::stop_token stop);
  void carry_out(Start& order);
  void carry_out(Cancel& order);
  void carry_out(Consumed& order);
  void carry_out(TlsContext& order);
  void wait();
  Connection& current();
  void settle(Connection& connection);
  void retry(std::shared_ptr<Exchange> exchange);

  const Url server_;
  const std::optional<Url> proxy_;
  const Tuning tuning_;
  base::Fd wake_;
  std::mutex mutex_;
  std::vector<Order> orders_;

  TlsContext tls_;
  Connection::Protocol protocol_ = Connection::Protocol::unknown;  // What the last connection came to.
  std::vector<std::unique_ptr<Connection>> connections_;
  bool has_orders_ = true;      // As far as the last wait() knows.
  bool started_again_ = false;  // A request, on a connection that may have had its turn: it is still to be sent.
  std::jthread thread_;
};

}  // namespace http
