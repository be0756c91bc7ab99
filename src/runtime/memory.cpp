#include "runtime/memory.h"

#include <cstddef>
#include <cstdint>
#include <link.h>
#include <malloc.h>
#include <mutex>
#include <span>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

namespace runtime {
namespace {

// Code and constants are mapped from files and never written: dropping their pages loses nothing. What the loader
// writes to when it relocates lies in segments that are writable in the file. Called under the loader's lock, which
// lists an object only once its segments lie where they stay: none is taken from beneath a library that is just being
// loaded. Where a call is refused, the pages stay.
int release_constant(dl_phdr_info* object, std::size_t, void*) {
  if (object->dlpi_addr == ::getauxval(AT_SYSINFO_EHDR)) return 0;  // The kernel's own.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (const ElfW(Phdr) & part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (object->dlpi_addr + part.p_vaddr) & ~(page - 1);
    const std::uintptr_t end = (object->dlpi_addr + part.p_vaddr + part.p_memsz) & ~(page - 1);  // Whole pages.
    if (begin >= end) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader tells addresses as numbers.
    (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

// Where one of these is refused, more memory is used, and nothing else happens.
// NOLINTBEGIN(concurrency-mt-unsafe): called before there are threads.
void hold_little_memory() {
  // One heap for all threads: what one of them frees, another can use. They seldom allocate at the same time.
  (void)::mallopt(M_ARENA_MAX, 1);
  // Large blocks, as a list passes through, go back to the system when they are freed. Left alone, glibc learns from
  // the first of them to keep the next.
  constexpr int kLarge = 128 << 10;
  (void)::mallopt(M_MMAP_THRESHOLD, kLarge);
  (void)::mallopt(M_TRIM_THRESHOLD, kLarge);
}
// NOLINTEND(concurrency-mt-unsafe)

void release_memory() {
  // One thread at a time: glibc sets up its arenas in the first call without a lock where another allocator stands in
  // for it (the sanitizers').
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  (void)::malloc_trim(0);
  (void)::dl_iterate_phdr(release_constant, nullptr);
}

}  // namespace runtime
