#pragma once

#include <memory>
#include <string>

#include "base/result.h"

struct ssl_ctx_st;
struct ssl_st;

namespace http {

// Whom to trust and who we are; all texts are PEM.
struct TlsOptions {
  // Where they came from, for errors; empty: there is no telling.
  struct Places {
    std::string ca;
    std::string certificate;
    std::string key;
  };

  std::string ca;           // Empty: the system's.
  std::string certificate;  // With its chain; empty: none.
  std::string key;
  std::string server_name;  // Instead of the URL's host, when not empty.
  bool insecure = false;    // Does not check the server at all. For people's tools, who warn about it.
  bool only_http1 = false;  // Offers nothing newer: for what HTTP/2 does not carry.
  Places places{};
};

// What every TLS connection of a client shares. TLS 1.2 or newer, the server's chain and name are checked, HTTP/2 is
// what we ask for first. Copies share the context; it is never changed after load().
class TlsContext {
 public:
  static base::Result<TlsContext> load(const TlsOptions& options);

  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  using Ssl = std::unique_ptr<ssl_st, Free>;

  // The client's end of one connection over a connected socket, which stays the caller's.
  base::Result<Ssl> connect(int fd, const std::string& host) const;

 private:
  std::shared_ptr<ssl_ctx_st> context_;
  std::string server_name_;
  bool insecure_ = false;
};

// The oldest entry of OpenSSL's error queue of this thread, or `otherwise`; the queue is empty then.
std::string tls_error(std::string_view otherwise);

}  // namespace http
