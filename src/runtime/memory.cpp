#include "runtime/memory.h"

#include <cstdint>
#include <malloc.h>
#include <mutex>
#include <sstream>
#include <string>
#include <sys/mman.h>

#include "base/file.h"

namespace runtime {
namespace {

// Code and constants are mapped from files and never written: dropping their pages loses nothing. What was written, as
// the tables of a library are once while it is loaded, is no longer the file's, and stays, swapped out or not. So does
// all where one of these calls fails.
void release_mapped_files() {
  const auto maps = base::read_file("/proc/self/smaps");
  std::istringstream lines(maps.value_or(""));
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool is_file = false;
  bool is_written = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    char dash = '\0';
    std::string rights;
    fields >> std::hex >> first >> dash >> last >> rights;
    if (fields && dash == '-') {
      begin = first, end = last;
      is_file = (rights == "r-xp" || rights == "r--p") && line.contains('/');
      is_written = false;
    } else if (line.starts_with("Anonymous:") || line.starts_with("Swap:")) {
      is_written |= !line.ends_with(" 0 kB");
    } else if (line.starts_with("VmFlags:") && is_file && !is_written) {  // The last line of each.
      (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
  }
}

}  // namespace

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

void release_memory() {
  // One thread at a time: glibc sets up its arenas in the first call without a lock where another allocator stands in
  // for it (the sanitizers').
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  (void)::malloc_trim(0);
  release_mapped_files();
}

}  // namespace runtime
