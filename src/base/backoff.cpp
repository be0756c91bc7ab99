#include "base/backoff.h"

#include <algorithm>

namespace base {
namespace {

// splitmix64: good enough to spread clients, and a fake seed makes a test repeatable.
std::uint64_t draw(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace

Backoff::Milliseconds Backoff::next() {
  const auto span = static_cast<std::uint64_t>(step_.count()) + 1;
  const Milliseconds wait(static_cast<Milliseconds::rep>(draw(random_) % span));
  step_ = std::min(step_ * 2, ceiling_);
  return wait;
}

}  // namespace base
