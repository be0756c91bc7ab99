#pragma once

#include <concepts>
#include <type_traits>

namespace api {

// A number that an older schema did not look at: where it is out of range, it is read as `otherwise` (codec.h).
template <std::integral T>
struct Fitting {
  T& number;
  std::remove_const_t<T> otherwise;
};
template <std::integral T>
Fitting<T> fitting(T& number, std::remove_const_t<T> otherwise) {
  return {number, otherwise};
}

}  // namespace api
