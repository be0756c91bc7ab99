#include "runtime/shutdown.h"

#include <pthread.h>
#include <signal.h>

namespace runtime {
namespace {

sigset_t termination() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

Shutdown::Shutdown() {
  ::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = termination();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  waiter_ = std::thread([this, set] {
    int signal = 0;
    ::sigwait(&set, &signal);
    stop_.request_stop();
  });
}

Shutdown::~Shutdown() {
  // Ends the wait if no signal ever came; blocked, it ends no thread.
  ::pthread_kill(waiter_.native_handle(), SIGTERM);  // NOLINT(bugprone-bad-signal-to-kill-thread)
  waiter_.join();
}

}  // namespace runtime
