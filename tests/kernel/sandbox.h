#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <string>

#include <gtest/gtest.h>

// Each test runs in a network namespace of its own: nothing it does can reach the machine's rules, routes or links.
class Sandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "needs CAP_SYS_ADMIN for a network namespace";
    ASSERT_EQ(run("ip -o link | grep -v ' lo: ' | wc -l"), "0\n") << "a fresh namespace has only lo";
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
