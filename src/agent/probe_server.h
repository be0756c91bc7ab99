#pragma once

#include <chrono>
#include <stop_token>
#include <thread>

#include "http/listen_address.h"
#include "http/routes.h"

namespace agent {

// Answers probes and scrapes from threads of its own. On a host's network somebody else may have the port: that is told
// and tried again, and meanwhile the node's rules are kept all the same.
class ProbeServer {
 public:
  ProbeServer(http::ListenAddress where, http::Routes routes,
              std::chrono::milliseconds retry = std::chrono::seconds(10));

 private:
  void run(std::stop_token stop);

  const http::ListenAddress where_;
  const http::Routes routes_;
  const std::chrono::milliseconds retry_;
  std::jthread thread_;  // Last: it uses all of the above.
};

}  // namespace agent
