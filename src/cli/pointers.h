#pragma once

#include <vector>

namespace cli {

// As `intent` takes lists of objects. `values` must outlive it.
template <typename T>
std::vector<const T*> pointers(const std::vector<T>& values) {
  std::vector<const T*> out;
  for (const T& value : values) out.push_back(&value);
  return out;
}

}  // namespace cli
