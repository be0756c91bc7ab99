// main() of every test program that touches the network or starts programs: the tests run inside the sandbox, so
// nothing they make can reach the machine or outlive them.
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "lab/sandbox.h"

int main(int argc, char** argv) {
  if (const base::Status entered = lab::enter_sandbox(argv); !entered) {
    std::fprintf(stderr, "%s: cannot run tests in private namespaces: %s\n", argv[0],
                 entered.error().message().c_str());
    return EXIT_FAILURE;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
