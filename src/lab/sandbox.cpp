#include "lab/sandbox.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/fd.h"
#include "base/file.h"
#include "lab/isolation.h"

namespace lab {
namespace {

// Tells the re-executed program that it is the sandbox's init, where to report, and who called. A stray variable of
// this name cannot lead anybody astray: only the first process of a process namespace heeds it.
constexpr const char* kMarker = "IPRULE_SANDBOX_REPORT";
constexpr const char* kTemporary = "/run/tmp";

bool entered = false;
pid_t caller = 0;

struct Pipe {
  base::Fd read_end;
  base::Fd write_end;
};

base::Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::fail_errno("pipe", errno);
  return Pipe{.read_end = base::Fd(ends[0]), .write_end = base::Fd(ends[1])};
}

sigset_t supervised_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) sigaddset(&set, signal);
  return set;
}

// Waits until `child` has ended and returns its wait status, passing termination signals on to it. Whatever else ends
// is reaped on the way. The supervised signals must be blocked.
int supervise(pid_t child) {
  const sigset_t signals = supervised_signals();
  while (true) {
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended == child) return status;
    }
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&signals, &info);
    // What a terminal sends (SI_KERNEL) has reached the whole process group already.
    if (signal > 0 && signal != SIGCHLD && info.si_code <= 0) ::kill(child, signal);
  }
}

// What init tells the waiting caller: the payload's wait status, or why there is no payload.
std::string encode_status(int status) {
  return fmt::format("S{}", status);
}
std::string encode_error(const base::Error& error) {
  return fmt::format("E{}", error.message());
}

void report(const base::Fd& pipe, const std::string& text) {
  (void)!::write(pipe.get(), text.data(), text.size());  // Nobody left to tell: the caller is gone, and so are we soon.
}

std::string read_report(const base::Fd& pipe) {
  std::string text;
  std::array<char, 512> buffer;
  while (true) {
    const ssize_t count = ::read(pipe.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

// Ends this process just as the one with this wait status ended.
[[noreturn]] void end_like(int status) {
  if (WIFSIGNALED(status)) {
    const rlimit no_core{};
    (void)::setrlimit(RLIMIT_CORE, &no_core);  // The payload's core, if any, is the interesting one.
    (void)std::signal(WTERMSIG(status), SIG_DFL);
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
    ::raise(WTERMSIG(status));
  }
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

base::Status mount_private(const char* type, const char* target, const char* options) {
  if (::mount(type, target, type, MS_NOSUID | MS_NODEV, options) != 0)
    return base::fail_errno(fmt::format("mount {} on {}", type, target), errno);
  return {};
}

base::Status furnish() {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return base::fail_errno("make mounts private", errno);
  TRY(mount_private("proc", "/proc", nullptr));
  TRY(mount_private("tmpfs", "/run", "mode=755"));
  for (const char* folder : {"/run/netns", kTemporary}) {
    if (::mkdir(folder, 0755) != 0) return base::fail_errno(fmt::format("create {}", folder), errno);
  }
  ::setenv("TMPDIR", kTemporary, 1);  // NOLINT(concurrency-mt-unsafe): before any thread.
  TRY(raise_loopback());
  return require_only_loopback();
}

// Init's whole life, except in its child, the payload, where it returns.
base::Status become_init(base::Fd pipe) {
  const sigset_t signals = supervised_signals();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  if (const base::Status furnished = furnish(); !furnished) {
    report(pipe, encode_error(furnished.error()));
    ::_exit(EXIT_FAILURE);
  }
  const pid_t payload = ::fork();
  if (payload == 0) {
    pipe.reset();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    entered = true;
    return {};
  }
  if (payload < 0) {
    report(pipe, encode_error(base::fail_errno("fork", errno).error()));
  } else {
    report(pipe, encode_status(supervise(payload)));
  }
  ::_exit(EXIT_SUCCESS);  // The kernel kills whatever else lives in the process namespace.
}

// A user without privileges is root inside and himself outside.
bool map_user(uid_t user, gid_t group) {
  return base::write_file("/proc/self/setgroups", "deny") &&
         base::write_file("/proc/self/uid_map", fmt::format("0 {} 1", user)) &&
         base::write_file("/proc/self/gid_map", fmt::format("0 {} 1", group));
}

bool has_ended(const base::Fd& process) {
  pollfd ended{.fd = process.get(), .events = POLLIN, .revents = 0};
  return ::poll(&ended, 1, 0) > 0;
}

// Starts this program again as the first process of new namespaces; returns its process id.
base::Result<pid_t> start_init(char** argv, int flags, Pipe& pipe, const sigset_t& mask) {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  const pid_t own = ::getpid();
  const base::Fd parent(static_cast<int>(::syscall(SYS_pidfd_open, own, 0)));
  // The system call itself: fork() cannot make namespaces, and unshare() refuses a user namespace where a sanitizer
  // has started its own thread.
  const long pid = ::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid < 0) return base::fail_errno("new namespaces", errno);
  if (pid > 0) return static_cast<pid_t>(pid);

  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (has_ended(parent)) ::_exit(EXIT_FAILURE);  // Before the line above, so its signal never comes.
  if ((flags & CLONE_NEWUSER) != 0 && !map_user(user, group)) {
    report(pipe.write_end, encode_error(base::fail_errno("map the user", errno).error()));
    ::_exit(EXIT_FAILURE);
  }
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  ::fcntl(pipe.write_end.get(), F_SETFD, 0);
  const std::string marker = fmt::format("{} {}", pipe.write_end.get(), own);
  ::setenv(kMarker, marker.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread.
  ::execv("/proc/self/exe", argv);
  report(pipe.write_end, encode_error(base::fail_errno("start again", errno).error()));
  ::_exit(EXIT_FAILURE);
}

// The caller's life while there is a sandbox; returns only if the sandbox could not be made.
base::Error wait_for(pid_t init, Pipe pipe) {
  pipe.write_end.reset();
  const int init_status = supervise(init);
  const std::string text = read_report(pipe.read_end);
  if (text.starts_with('E')) return {base::Fault::denied, text.substr(1)};
  end_like(text.starts_with('S') ? std::stoi(text.substr(1)) : init_status);
}

base::Error run_outside(char** argv, int flags) {
  auto pipe = make_pipe();
  if (!pipe) return pipe.error();
  const sigset_t signals = supervised_signals();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  const auto init = start_init(argv, flags, *pipe, before);
  const base::Error error = init ? wait_for(*init, *std::move(pipe)) : init.error();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

std::optional<base::Fd> report_of_init() {
  const char* marker = std::getenv(kMarker);  // NOLINT(concurrency-mt-unsafe): before any thread.
  if (marker == nullptr || ::getpid() != 1) return {};
  char* rest = nullptr;
  base::Fd pipe(static_cast<int>(std::strtol(marker, &rest, 10)));
  caller = static_cast<pid_t>(std::strtol(rest, nullptr, 10));
  ::unsetenv(kMarker);  // NOLINT(concurrency-mt-unsafe): before any thread.
  ::fcntl(pipe.get(), F_SETFD, FD_CLOEXEC);
  return pipe;
}

}  // namespace

base::Status enter_sandbox(char** argv) {
  if (auto pipe = report_of_init()) return become_init(*std::move(pipe));

  constexpr int kNamespaces = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
  const base::Error as_root = run_outside(argv, kNamespaces);
  if (as_root.errno_value() != EPERM) return std::unexpected(as_root);
  const base::Error as_user = run_outside(argv, kNamespaces | CLONE_NEWUSER);
  return base::fail(base::Fault::denied,
                    fmt::format("private namespaces need root, or unprivileged user namespaces, which this system "
                                "refuses ({})",
                                as_user.message()));
}

bool in_sandbox() {
  return entered;
}

pid_t sandbox_caller() {
  return caller;
}

}  // namespace lab
