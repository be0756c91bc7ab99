#include "runtime/memory.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace runtime {
namespace {

// Kilobytes of files that this process has mapped in: code, mostly.
long resident_files() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (long size = 0; word == "RssFile:" && status >> size) return size;
  }
  return 0;
}

TEST(ReleaseMemory, gives_back_code_and_the_program_goes_on) {
  const long before = resident_files();
  release_memory();
  EXPECT_LT(resident_files(), before);
  release_memory();  // What was dropped is there when it is needed.
}

}  // namespace
}  // namespace runtime
