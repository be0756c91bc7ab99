#include "runtime/no_pipe_signal.h"

#include <array>
#include <cerrno>
#include <unistd.h>

#include <gtest/gtest.h>

namespace runtime {
namespace {

TEST(NoPipeSignal, a_write_to_nobody_is_an_error_and_the_process_lives_on) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  ::close(pipe[0]);
  {
    const NoPipeSignal guard;
    EXPECT_EQ(::write(pipe[1], "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
  }
  ::close(pipe[1]);  // The signal did not wait for the guard to end, or we would be gone.
}

}  // namespace
}  // namespace runtime
