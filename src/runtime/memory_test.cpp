#include "runtime/memory.h"

#include <array>
#include <cstddef>
#include <dlfcn.h>
#include <fstream>
#include <stop_token>
#include <string>
#include <thread>

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

// As looking up a name does, where the host's nsswitch.conf names modules.
TEST(ReleaseMemory, leaves_a_library_alone_that_another_thread_is_loading) {
  std::jthread other([](const std::stop_token& stop) {
    while (!stop.stop_requested()) release_memory();
  });
  for (int i = 0; i < 1000; ++i) {
    void* const library = ::dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    auto* const format =
        reinterpret_cast<int (*)(unsigned long, char*, std::size_t)>(::dlsym(library, "ns_format_ttl"));
    ASSERT_NE(format, nullptr) << ::dlerror();
    std::array<char, 32> text{};
    ASSERT_EQ(format(3661, text.data(), text.size()), 6);  // Through tables that the loader wrote.
    ASSERT_STREQ(text.data(), "1h1m1s");
    ASSERT_EQ(::dlclose(library), 0);
  }
}

}  // namespace
}  // namespace runtime
