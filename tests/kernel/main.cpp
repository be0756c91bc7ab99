// Kernel tests never see the machine's own network: the program leaves it before anything else runs, so that even a
// test that forgets its sandbox can harm nothing.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sched.h>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  if (::unshare(CLONE_NEWNET) != 0) {
    std::printf("cannot make a network namespace (%s): nothing was run\n", std::strerror(errno));
    return 1;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
