#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <string>

#include <gtest/gtest.h>

// Each test runs in a network namespace of its own: nothing is left for the next. Entered by the constructor, so that
// members of a fixture that open sockets are inside as well.
class Sandbox : public ::testing::Test {
 protected:
  Sandbox() {
    EXPECT_EQ(::unshare(CLONE_NEWNET), 0);
    EXPECT_EQ(run("ip -o link | grep -v ' lo: ' | wc -l"), "0\n") << "a fresh namespace has only lo";
    run("ip link set lo up");
  }

  // What the command prints; its failure fails the test.
  static std::string run(const std::string& command) {
    std::string out;
    FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
    std::array<char, 4096> buffer;
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
      out.append(buffer.data(), count);
    const int status = ::pclose(pipe);
    EXPECT_EQ(status, 0) << command << ": " << out;
    return out;
  }
};
