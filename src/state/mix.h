#pragma once

#include <cstddef>

namespace state {

// Takes one more value into a hash.
inline void mix(std::size_t& seed, std::size_t value) {
  seed = (seed ^ value) * 0x9e3779b97f4a7c15U;
  seed ^= seed >> 32U;
}

}  // namespace state
