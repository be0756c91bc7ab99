#include "runtime/shutdown.h"

#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "runtime/signal.h"

namespace runtime {
namespace {

TEST(Shutdown, a_termination_signal_becomes_a_stop_request) {
  Shutdown shutdown;
  EXPECT_FALSE(shutdown.token().stop_requested());
  ::kill(::getpid(), SIGTERM);
  Signal never;
  EXPECT_FALSE(never.wait(shutdown.token()));  // Returns because of the stop, or the test's time-out ends it.
  EXPECT_TRUE(shutdown.token().stop_requested());
}

TEST(Shutdown, ends_without_any_signal) {
  const Shutdown shutdown;
}

}  // namespace
}  // namespace runtime
