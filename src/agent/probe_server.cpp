#include "agent/probe_server.h"

#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "http/server.h"
#include "runtime/signal.h"

namespace agent {

ProbeServer::ProbeServer(http::ListenAddress where, http::Routes routes, std::chrono::milliseconds retry)
    : where_(where),
      routes_(std::move(routes)),
      retry_(retry),
      thread_([this](std::stop_token stop) { run(std::move(stop)); }) {}

void ProbeServer::run(std::stop_token stop) {
  std::string told;
  while (!stop.stop_requested()) {
    auto server = http::Server::listen(where_, routes_);
    if (server) {
      base::log::info("probes and metrics are served", {{"port", server->port()}});
      server->serve(stop);
      return;
    }
    if (std::exchange(told, server.error().message()) != told) {
      base::log::warning("probes and metrics cannot be served, will try again; rules are kept all the same",
                         {{"err", told}});
    }
    (void)runtime::Signal().wait(stop, base::SteadyClock().now() + retry_);
  }
}

}  // namespace agent
