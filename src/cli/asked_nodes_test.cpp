#include "cli/asked_nodes.h"

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using testing::HasSubstr;

// A terminal of which the test holds the other end.
class AskedNodesTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TERM", "xterm", 1);
    master_ = ::posix_openpt(O_RDWR | O_NOCTTY);
    ASSERT_GE(master_, 0);
    ASSERT_EQ(::grantpt(master_), 0);
    ASSERT_EQ(::unlockpt(master_), 0);
    terminal_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY);
    ASSERT_GE(terminal_, 0);
  }
  void TearDown() override {
    ::close(terminal_);
    ::close(master_);
  }

  // What was drawn until then, once it has the words.
  std::string drawn_with(std::string_view words) {
    while (drawn_.find(words) == std::string::npos) {
      pollfd ready{.fd = master_, .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, 20'000) <= 0) break;
      char buffer[4096];
      const auto size = ::read(master_, buffer, sizeof(buffer));
      if (size <= 0) break;
      drawn_.append(buffer, static_cast<std::size_t>(size));
    }
    return drawn_;
  }

  int master_ = -1;
  int terminal_ = -1;
  std::string drawn_;
};

TEST_F(AskedNodesTest, a_node_that_takes_long_is_seen_to_be_asked_and_nothing_stays) {
  {
    const AskNode ask = with_progress(
        [this](const std::string& node, const Question&) -> base::Result<Answer> {
          // It answers when the bar was seen: no sooner, and without a clock.
          const std::string wanted = node == "worker-1" ? "nodes 0/2" : "nodes 1/2";
          EXPECT_THAT(drawn_with(wanted), HasSubstr(wanted));
          return Answer();
        },
        terminal_, 2);
    EXPECT_TRUE(ask("worker-1", {}));
    EXPECT_TRUE(ask("worker-2", {}));
  }
  EXPECT_TRUE(drawn_with("\r\x1b[K").ends_with("\r\x1b[K")) << "wiped";
}

TEST(AskedNodes, where_there_is_no_terminal_nothing_is_drawn) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    AskedNodes shown(ends[1], 3);
  }
  ::close(ends[1]);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  ::close(ends[0]);
}

}  // namespace
}  // namespace cli
