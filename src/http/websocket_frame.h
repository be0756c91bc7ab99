#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace http {

// What travels on a WebSocket (RFC 6455, 5.2).
struct Frame {
  enum class Kind : std::uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

  Kind kind = Kind::binary;
  bool last = true;  // Of its message.
  std::string payload;

  bool operator==(const Frame&) const = default;
};

// As a client sends it: whole, and masked, so that no proxy takes its contents for HTTP.
std::string encode(Frame::Kind kind, std::string_view payload, const std::array<char, 4>& mask);

// A server's bytes, in pieces of any size, to its frames.
class FrameReader {
 public:
  explicit FrameReader(std::size_t largest) : largest_(largest) {}

  void add(std::string_view bytes) { bytes_ += bytes; }
  std::size_t size() const { return bytes_.size() - read_; }  // What waits here, in bytes.
  std::size_t held() const { return bytes_.size(); }          // With what was read of it: at most as much again.
  // Nothing: not whole yet. An error where it is none that a server may send, or larger than we bear.
  base::Result<std::optional<Frame>> next();

 private:
  std::size_t largest_;
  std::string bytes_;
  std::size_t read_ = 0;  // Of those. They go together, not with each frame: there are frames of two bytes.
};

}  // namespace http
