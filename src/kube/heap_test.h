#pragma once

#include <cstddef>
#include <malloc.h>

namespace kube {

// What is large has a mapping of its own. The heaps of sanitizers tell nothing.
inline std::size_t heap_in_use() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace kube
