#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <net/if.h>
#include <sched.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "base/fd.h"

// Each test runs in a network namespace of its own: nothing is left for the next. Entered by the constructor, so that
// members of a fixture that open sockets are inside as well.
class Sandbox : public ::testing::Test {
 protected:
  // By calls of our own: under User-mode Linux a program takes a long time to begin.
  Sandbox() {
    EXPECT_EQ(::unshare(CLONE_NEWNET), 0);
    const std::unique_ptr<struct if_nameindex, void (*)(struct if_nameindex*)> links(::if_nameindex(),
                                                                                     ::if_freenameindex);
    EXPECT_TRUE(links && links.get()[0].if_name == std::string("lo") && links.get()[1].if_index == 0)
        << "a fresh namespace has only lo";
    const base::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq loopback{};
    std::strcpy(loopback.ifr_name, "lo");
    loopback.ifr_flags = IFF_UP;
    EXPECT_EQ(::ioctl(socket.get(), SIOCSIFFLAGS, &loopback), 0);
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
