#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/url.h"

namespace http {

// Asks a proxy, over a socket that is connected to it, for a way through to the server (CONNECT). Never blocks. `user`:
// "name:password", for a proxy that wants to know (RFC 7617).
class Tunnel {
 public:
  Tunnel(const Url& server, std::string_view user);

  base::Result<bool> advance(int socket);  // True: what is sent from now on reaches the server.
  bool wants_write() const { return !unsent_.empty(); }

 private:
  std::string unsent_;
  std::string answer_;
};

}  // namespace http
