#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace http {

// What a client bears and how long it waits. The defaults suit an API server; tests make them small.
struct Tuning {
  std::size_t max_header_bytes = 64U << 10U;
  std::size_t max_body_bytes = 64U << 20U;  // Of one answer read as a whole; a stream has no end.
  std::uint32_t stream_window = 2U << 20U;  // What a slow reader can make us hold, per stream.
  std::uint32_t connection_window = 8U << 20U;
  std::chrono::milliseconds dial_timeout{10'000};  // TCP and TLS with an address; of several, the last.
  std::chrono::milliseconds ping_after{30'000};    // Silence that makes us ask,
  std::chrono::milliseconds ping_timeout{15'000};  // and then give the peer up.
};

}  // namespace http
