// A packed answer of a server. What is within the limit is whole, and a larger limit makes nothing else of it.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "http/gzip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSmall = 1000;
  constexpr std::size_t kLarge = 1U << 20U;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto small = http::gunzip(text, kSmall);
  const auto large = http::gunzip(text, kLarge);
  if (small && (small->size() > kSmall || !large || *large != *small)) std::abort();
  if (large && (large->size() > kLarge || small.has_value() != (large->size() <= kSmall))) std::abort();
  if (large && !small && small.error().errno_value() != EMSGSIZE) std::abort();  // Who can ask for less is told to.
  return 0;
}
