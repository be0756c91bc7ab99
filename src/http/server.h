#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "base/result.h"
#include "http/listen_address.h"
#include "http/routes.h"
#include "http/server_certificate.h"

namespace http {

// What one server bears. Whatever a client does, it costs no more than this.
struct ServerLimits {
  std::size_t connections = 64;
  std::size_t header_bytes = 16U << 10U;
  std::size_t body_bytes = 64U << 10U;
  std::chrono::milliseconds idle_time{90'000};      // Between two requests of a connection.
  std::chrono::milliseconds request_time{10'000};   // For the TLS handshake; for a request to arrive whole.
  std::chrono::milliseconds response_time{30'000};  // For the client to take the answer.
  std::chrono::milliseconds stop_time{2'000};       // What is under way when the server stops; then no handler begins.
  unsigned workers = 2;
};

// An HTTP/1.1 server, plain or with TLS. One thread, the one in serve(), does all input and output and never waits for
// anybody; handlers run on a few workers of its own. When all connections are taken, a newcomer replaces the one that
// has kept us waiting longest: slow clients cannot lock out a probe.
class Server {
 public:
  // Listens from here on; a port in use is an error here. No certificate: plain.
  static base::Result<Server> listen(const ListenAddress& where, Routes routes,
                                     std::shared_ptr<ServerCertificate> certificate = {},
                                     const ServerLimits& limits = {});
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();

  std::uint16_t port() const;

  // Answers until stopped; what is being answered then is finished. Returns after the last handler. Once.
  void serve(std::stop_token stop);

 private:
  struct Core;
  explicit Server(std::unique_ptr<Core> core);

  std::unique_ptr<Core> core_;
};

}  // namespace http
