#pragma once

#include <chrono>
#include <cstdint>

namespace base {

// Exponential back-off with full jitter: the n-th wait is a random part of min(first * 2^n, ceiling), so that many
// clients that failed together do not return together.
class Backoff {
 public:
  using Milliseconds = std::chrono::milliseconds;

  Backoff(Milliseconds first, Milliseconds ceiling, std::uint64_t seed)
      : first_(first), ceiling_(ceiling), random_(seed) {}

  Milliseconds next();
  void reset() { step_ = first_; }

 private:
  Milliseconds first_;
  Milliseconds ceiling_;
  Milliseconds step_ = first_;
  std::uint64_t random_;
};

}  // namespace base
