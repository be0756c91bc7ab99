#pragma once

#include <string>

#include "base/result.h"
#include "http/url.h"

namespace http {

// Asks a proxy, over a socket that is connected to it, for a way through to the server (CONNECT). Never blocks.
class Tunnel {
 public:
  explicit Tunnel(const Url& server);

  base::Result<bool> advance(int socket);  // True: what is sent from now on reaches the server.
  bool wants_write() const { return !unsent_.empty(); }

 private:
  std::string unsent_;
  std::string answer_;
};

}  // namespace http
