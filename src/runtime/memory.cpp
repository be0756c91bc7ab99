#include "runtime/memory.h"

#include <malloc.h>

namespace runtime {

// Where one of these is refused, more memory is used, and nothing else happens.
void hold_little_memory() {
  // One heap for all threads: what one of them frees, another can use. They seldom allocate at the same time.
  (void)::mallopt(M_ARENA_MAX, 1);
  // Large blocks, as a list passes through, go back to the system when they are freed. Left alone, glibc learns from
  // the first of them to keep the next.
  constexpr int kLarge = 128 << 10;
  (void)::mallopt(M_MMAP_THRESHOLD, kLarge);
  (void)::mallopt(M_TRIM_THRESHOLD, kLarge);
}

}  // namespace runtime
