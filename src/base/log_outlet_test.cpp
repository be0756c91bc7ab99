#include "base/log_outlet.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/fd.h"

namespace base::log {
namespace {

class OutletTest : public testing::Test {
 protected:
  OutletTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    in_ = Fd(ends[0]);
    out_ = Fd(ends[1]);
    EXPECT_EQ(::fcntl(out_.get(), F_SETPIPE_SZ, 16384), 16384);
    EXPECT_EQ(::fcntl(in_.get(), F_SETFL, O_NONBLOCK), 0);
  }

  // All that there is to read now.
  std::string read() {
    std::string out;
    std::array<char, 512> part{};
    for (ssize_t got = 0; (got = ::read(in_.get(), part.data(), part.size())) > 0;) {
      out.append(part.data(), static_cast<std::size_t>(got));
    }
    return out;
  }

  Fd in_;
  Fd out_;
  Outlet outlet_{[](std::size_t lost) { return std::to_string(lost) + " lost\n"; }};
};

TEST_F(OutletTest, S20_a_pipe_that_nobody_reads_delays_nobody_and_what_was_lost_is_told_once) {
  outlet_.put(out_.get(), "first\n");
  for (int i = 0; i < 100; ++i) outlet_.put(out_.get(), std::string(1000, 'x') + "\n");
  const std::string before = read();
  EXPECT_TRUE(before.starts_with("first\n"));
  EXPECT_TRUE(before.ends_with("x\n")) << "lines are whole";
  outlet_.put(out_.get(), "after\n");
  outlet_.put(out_.get(), "last\n");
  const std::size_t kept = (before.size() - 6) / 1001;
  EXPECT_EQ(read(), std::to_string(100 - kept) + " lost\nafter\nlast\n");
}

TEST_F(OutletTest, S20_a_line_longer_than_the_pipe_is_whole_in_the_end) {
  const std::string line = std::string(40000, 'y') + "\n";
  outlet_.put(out_.get(), line);
  std::string seen = read();
  EXPECT_LT(seen.size(), line.size());
  while (seen.size() < line.size()) {
    outlet_.put(out_.get(), "z\n");
    seen += read();
  }
  EXPECT_TRUE(seen.starts_with(line));
}

TEST_F(OutletTest, S20_a_reader_that_has_gone_harms_nobody) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  in_ = Fd();
  for (int i = 0; i < 3; ++i) outlet_.put(out_.get(), "line\n");
  (void)std::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace base::log
