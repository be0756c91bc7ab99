#include "kernel/guard.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/log.h"
#include "kernel/guard_undo.h"

namespace kernel {
namespace {

constexpr char kArm = 'a';
constexpr char kConfirm = 'c';
constexpr char kUndo = 'u';
constexpr char kDone = '+';
constexpr char kConflict = '!';  // Nothing is armed any more.
constexpr char kFailed = '-';

constexpr std::chrono::seconds kPatience{10};

// One datagram each way; the messages themselves are in the file.
struct Request {
  char verb = 0;
  std::int64_t window_ms = 0;
};
struct Reply {
  char verdict = kFailed;
  std::array<char, 255> words{};
};

// The guard's own life: waits for requests, signals and the end of the window.
class Watch {
 public:
  Watch(std::filesystem::path folder, base::Fd channel, base::Fd signals, pid_t program)
      : folder_(std::move(folder)), channel_(std::move(channel)), signals_(std::move(signals)), program_(program) {}

  // Until the program has ended; its exit status, as a shell would say it.
  int run() {
    while (true) {
      std::array<pollfd, 2> watched = {pollfd{.fd = channel_.get(), .events = POLLIN, .revents = 0},
                                       pollfd{.fd = signals_.get(), .events = POLLIN, .revents = 0}};
      const int ready = ::poll(watched.data(), watched.size(), wait_time());  // Skips a closed channel: its fd is -1.
      if (ready < 0 && errno != EINTR) std::abort();
      if (armed_ && base::SteadyClock().now() >= deadline_) (void)step_back("not confirmed in time");
      if ((watched[0].revents & (POLLIN | POLLHUP)) != 0) answer();
      if ((watched[1].revents & POLLIN) != 0) {
        if (const auto status = take_signal()) {
          if (armed_) (void)step_back("the program has ended");
          return *status;
        }
      }
    }
  }

 private:
  int wait_time() const {
    if (!armed_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - base::SteadyClock().now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
  }

  // Says itself how it went: often nobody is left to ask.
  base::Status step_back(std::string_view why) {
    armed_ = false;
    base::Status sent = send_undo(std::move(inverse_));
    if (sent) sent = forget_undo(folder_);
    if (sent) base::log::warning("guard: change undone", {{"reason", std::string(why)}});
    if (!sent) base::log::error("guard: change not undone", {{"err", sent.error().message()}});
    return sent;
  }

  void answer() {
    Request request;
    const ssize_t count = ::recv(channel_.get(), &request, sizeof(request), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count != static_cast<ssize_t>(sizeof(request))) {
      channel_.reset();  // The program is ending, and its signal comes.
      return;
    }
    Reply reply;
    const base::Status status = serve(request, reply);
    if (!status) {
      const std::string& words = status.error().message();
      std::memcpy(reply.words.data(), words.data(), std::min(words.size(), reply.words.size() - 1));
    }
    // A program that is gone needs no answer.
    (void)::send(channel_.get(), &reply, sizeof(reply), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  base::Status serve(const Request& request, Reply& reply) {
    if (armed_ == (request.verb == kArm)) {
      reply.verdict = kConflict;
      return {};
    }
    base::Status status;
    if (request.verb == kArm) status = arm(std::chrono::milliseconds(request.window_ms));
    if (request.verb == kConfirm) status = let_go();
    if (request.verb == kUndo) status = step_back("asked to");
    reply.verdict = status ? kDone : kFailed;
    return status;
  }

  base::Status arm(std::chrono::milliseconds window) {
    inverse_ = TRY(load_undo(folder_));
    deadline_ = base::SteadyClock().now() + window;
    armed_ = true;
    return {};
  }

  base::Status let_go() {
    armed_ = false;
    inverse_.clear();
    return forget_undo(folder_);
  }

  // The program's exit status once it has ended; other children of a first process are only reaped.
  std::optional<int> take_signal() {
    signalfd_siginfo signal;
    if (::read(signals_.get(), &signal, sizeof(signal)) != static_cast<ssize_t>(sizeof(signal))) return std::nullopt;
    if (signal.ssi_signo != SIGCHLD) {
      ::kill(program_, static_cast<int>(signal.ssi_signo));
      return std::nullopt;
    }
    std::optional<int> out;
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended == program_) out = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    return out;
  }

  std::filesystem::path folder_;
  base::Fd channel_;
  base::Fd signals_;
  pid_t program_;
  bool armed_ = false;
  base::TimePoint deadline_{};
  std::vector<Message> inverse_{};
};

sigset_t watched_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) ::sigaddset(&set, signal);
  return set;
}

}  // namespace

base::Result<Guard> Guard::start(const std::filesystem::path& folder) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return base::fail_errno("guard: socketpair", errno);
  }
  base::Fd program_end(ends[0]);
  base::Fd guard_end(ends[1]);
  const sigset_t signals = watched_signals();
  sigset_t before;
  (void)::pthread_sigmask(SIG_BLOCK, &signals, &before);
  const pid_t guard = ::getpid();
  const pid_t program = ::fork();
  if (program < 0) {
    const int error = errno;
    (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return base::fail_errno("guard: fork", error);
  }
  if (program == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (::getppid() != guard) ::raise(SIGTERM);  // It died before we asked to be told.
    return Guard(folder, std::move(program_end));
  }
  program_end.reset();
  base::Fd signal_fd(::signalfd(-1, &signals, SFD_CLOEXEC));
  if (!signal_fd) std::abort();
  ::_exit(Watch(folder, std::move(guard_end), std::move(signal_fd), program).run());
}

base::Status Guard::ask(char verb, Milliseconds window) {
  const Request request{.verb = verb, .window_ms = window.count()};
  if (::send(channel_.get(), &request, sizeof(request), MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof(request))) {
    return base::fail_errno("guard: send", errno);
  }
  pollfd watched{.fd = channel_.get(), .events = POLLIN, .revents = 0};
  const auto patience = std::chrono::milliseconds(kPatience).count();
  while (::poll(&watched, 1, static_cast<int>(patience)) < 0 && errno == EINTR) {
  }
  Reply reply;
  if (::recv(channel_.get(), &reply, sizeof(reply), MSG_DONTWAIT) != static_cast<ssize_t>(sizeof(reply))) {
    return base::fail(base::Fault::timeout, "guard: no answer");
  }
  if (reply.verdict == kDone) return {};
  if (reply.verdict == kFailed) return base::fail(base::Fault::kernel, fmt::format("guard: {}", reply.words.data()));
  return base::fail(base::Fault::conflict, "guard: too late, the change has been undone");
}

base::Status Guard::arm(std::span<const Message> inverse, Milliseconds window) {
  if (armed_) return base::fail(base::Fault::conflict, "guard: a change is being tried already");
  TRY(save_undo(folder_, inverse));
  TRY(ask(kArm, window));
  armed_ = true;
  return {};
}

base::Status Guard::confirm() {
  armed_ = false;
  return ask(kConfirm);
}

base::Status Guard::undo() {
  armed_ = false;
  return ask(kUndo);
}

base::Result<bool> undo_left_over(const std::filesystem::path& folder) {
  std::vector<Message> inverse = TRY(load_undo(folder));
  if (inverse.empty()) return false;
  TRY(send_undo(std::move(inverse)));
  TRY(forget_undo(folder));
  return true;
}

}  // namespace kernel
