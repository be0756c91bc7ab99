// The payload of a message about a connection.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "kernel/conntrack.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto connection = kernel::decode_connection({.payload = std::as_bytes(std::span(data, size))});
  if (!connection) return 0;
  // All of one family, or it was put together from what the message does not say.
  const auto family = connection->to.family();
  if (connection->client.family() != family || connection->answerer.family() != family) std::abort();
  return 0;
}
