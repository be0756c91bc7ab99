#include "agent/probe_server.h"

#include <atomic>
#include <optional>

#include <gtest/gtest.h>

#include "http/server.h"

namespace agent {
namespace {

using namespace std::chrono_literals;

http::ListenAddress loopback(std::uint16_t port) {
  return {.address = net::Address::parse("127.0.0.1").value(), .port = port};
}

// The only way to know from outside that a port is taken.
bool is_taken(std::uint16_t port) {
  return !http::Server::listen(loopback(port), {});
}

TEST(ProbeServer, D35_a_port_in_use_is_tried_again_until_it_is_free) {
  std::optional<http::Server> other(http::Server::listen(loopback(0), {}).value());
  const std::uint16_t port = other->port();
  const ProbeServer server(loopback(port), {}, 1ms);
  other.reset();
  const auto until = std::chrono::steady_clock::now() + 30s;
  while (!is_taken(port)) ASSERT_LT(std::chrono::steady_clock::now(), until) << "it never got the port";
}

}  // namespace
}  // namespace agent
