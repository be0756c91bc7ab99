#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "http/message.h"
#include "http/tls.h"
#include "http/tuning.h"
#include "http/url.h"

namespace http {

class Exchange;
class Transport;

// The answer to a request whose body has no foreseeable end. For one thread. Destroying it ends the stream; while it
// lives, so does its connection, even after the Client.
class Stream {
 public:
  Stream(std::shared_ptr<Exchange> exchange, std::shared_ptr<Transport> transport, std::size_t window);
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  int status() const;
  const Headers& headers() const;

  // The bytes that came since the last call, waiting for some; none at the end of the body. Whoever reads slowly
  // slows this stream down and no other.
  base::Result<std::string> read(base::TimePoint deadline, std::stop_token stop);

  // Gives each piece to `take` until that says false or the body ends. Small ones are given by the thread that owns the
  // connection, while this one sleeps; who is slow is called by this thread, and slows this stream down and no other.
  // Never both at a time.
  base::Status follow(const std::function<bool(std::string_view bytes)>& take, base::TimePoint deadline,
                      std::stop_token stop);

 private:
  void report(std::size_t taken);

  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<Transport> transport_;
  std::size_t window_;
  std::size_t unreported_ = 0;
};

// Requests to one server over one HTTP/2 connection, made when needed and made again after it was lost; over several
// with HTTP/1.1 where the server has nothing newer. Usable from any number of threads. An error says `timeout` at the
// deadline and `cancelled` on stop; a request that may have reached the server is not repeated here.
class Client {
 public:
  // `proxy`: a tunnel through it (CONNECT) leads to the server; it sees nothing but that.
  Client(Url server, TlsContext tls, const Tuning& tuning = {}, std::optional<Url> proxy = {});

  base::Result<Response> send(Request request, base::TimePoint deadline, std::stop_token stop = {});
  base::Result<Stream> open(Request request, base::TimePoint deadline, std::stop_token stop = {});

  // For connections from now on; what is under way ends on the old ones.
  void replace_tls(TlsContext tls);

 private:
  Tuning tuning_;
  std::shared_ptr<Transport> transport_;
};

}  // namespace http
