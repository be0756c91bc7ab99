#pragma once

#include <concepts>

namespace api {

// A number that an older schema did not look at: where it is out of range, it counts as its default (codec.h).
template <std::integral T>
struct Fitting {
  T& number;
};
template <std::integral T>
Fitting<T> fitting(T& number) {
  return {number};
}

}  // namespace api
