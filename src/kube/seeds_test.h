#pragma once

#include <cstdint>
#include <cstdlib>

namespace kube {

// The runs of a simulation: `usual` of them, or as many as IPRULE_SEEDS says; IPRULE_SEED repeats the one it names.
struct Seeds {
  explicit Seeds(std::uint64_t usual) : last(usual) {
    // NOLINTBEGIN(concurrency-mt-unsafe): nobody sets any.
    if (const char* const count = std::getenv("IPRULE_SEEDS")) last = std::strtoull(count, nullptr, 10);
    if (const char* const one = std::getenv("IPRULE_SEED")) first = last = std::strtoull(one, nullptr, 10);
    // NOLINTEND(concurrency-mt-unsafe)
  }

  std::uint64_t first = 1;
  std::uint64_t last;
};

}  // namespace kube
