#pragma once

#include <csignal>
#include <ctime>
#include <pthread.h>

namespace runtime {

// While it lives, a write of this thread to a peer that has left is an error for the caller, not the end of the
// process: for OpenSSL, which writes to sockets without a way to say so.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    (void)::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal() {
    constexpr timespec kAtOnce{};
    if (sigismember(&before_, SIGPIPE) == 0) (void)::sigtimedwait(&pipe_, nullptr, &kAtOnce);
    (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

}  // namespace runtime
