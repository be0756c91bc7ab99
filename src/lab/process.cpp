#include "lab/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "lab/sandbox.h"

extern char** environ;

namespace lab {
namespace {

constexpr int kCannotStart = 127;  // As a shell has it.

base::Result<base::Fd> memory_file(const char* name) {
  base::Fd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd) return base::fail_errno("memfd_create", errno);
  return fd;
}

base::Result<base::Fd> input_file(const std::string& text) {
  base::Fd fd = TRY(memory_file("input"));
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return base::fail_errno("write the input", errno);
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

base::Result<base::Fd> log_file(const std::filesystem::path& path) {
  base::Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd) return base::fail_errno(fmt::format("open {}", path.native()), errno);
  return fd;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  return out;
}

bool same_variable(std::string_view a, std::string_view b) {
  return a.substr(0, a.find('=')) == b.substr(0, b.find('='));
}

// Names must be unique: programs differ in whether the first or the last of two counts.
std::vector<char*> environment_of(const Command& command) {
  std::vector<char*> out = pointers(command.environment);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const auto same = [&](const std::string& own) { return same_variable(own, *entry); };
    if (std::ranges::none_of(command.environment, same)) out.push_back(*entry);
  }
  out.push_back(nullptr);
  return out;
}

// Runs in the forked child, where only system calls are safe: other threads may have held any lock.
[[noreturn]] void become(char* const* arguments, char* const* environment, int network, const std::array<int, 3>& files,
                         bool tie_to_thread) {
  ::setpgid(0, 0);
  if (tie_to_thread) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int target = 0; target < 3; ++target) ::dup2(files.at(static_cast<std::size_t>(target)), target);
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (network < 0 || ::setns(network, CLONE_NEWNET) == 0) ::execvpe(arguments[0], arguments, environment);
  const char* reason = ::strerrordesc_np(errno);
  (void)!::write(STDERR_FILENO, reason, std::strlen(reason));
  ::_exit(kCannotStart);
}

std::string contents(const base::Fd& file) {
  std::string text;
  std::array<char, 8192> buffer;
  while (file) {
    const ssize_t count = ::pread(file.get(), buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

std::string Exit::text() const {
  return signal == 0 ? fmt::format("exit code {}", code) : fmt::format("signal {} ({})", signal, ::sigdescr_np(signal));
}

base::Result<Process> Process::start(const Command& command) {
  Process process;
  const base::Fd input = TRY(input_file(command.input));
  process.output_ = TRY(command.log.empty() ? memory_file("output") : log_file(command.log));
  if (command.log.empty()) process.errors_ = TRY(memory_file("errors"));
  const int errors = process.errors_ ? process.errors_.get() : process.output_.get();

  std::vector<char*> arguments = pointers(command.arguments);
  arguments.push_back(nullptr);
  const std::vector<char*> environment = environment_of(command);
  const bool tie_to_thread = !in_sandbox();
  const pid_t pid = ::fork();
  if (pid < 0) return base::fail_errno("fork", errno);
  if (pid == 0) {
    become(arguments.data(), environment.data(), command.network, {input.get(), process.output_.get(), errors},
           tie_to_thread);
  }
  ::setpgid(pid, pid);  // Both sides do it, so that the group exists for either.
  process.pid_ = pid;
  process.ended_ = false;
  process.handle_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.handle_) return base::fail_errno("pidfd_open", errno);
  return process;
}

Process::Process(Process&& other) noexcept {
  *this = std::move(other);
}

Process& Process::operator=(Process&& other) noexcept {
  if (this == &other) return *this;
  kill();
  pid_ = std::exchange(other.pid_, -1);
  ended_ = std::exchange(other.ended_, true);
  exit_ = other.exit_;
  handle_ = std::move(other.handle_);
  output_ = std::move(other.output_);
  errors_ = std::move(other.errors_);
  return *this;
}

Process::~Process() {
  kill();
}

bool Process::running() {
  return !wait_exit({}).has_value();
}

base::Result<Exit> Process::wait_exit(base::Duration bound) {
  if (ended_) return exit_;
  const auto deadline = std::chrono::steady_clock::now() + bound;
  pollfd ended{.fd = handle_.get(), .events = POLLIN, .revents = 0};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const int ready = ::poll(&ended, 1, static_cast<int>(std::max(left.count(), std::chrono::milliseconds::rep(0))));
    if (ready > 0) break;
    if (ready == 0) return base::fail(base::Fault::timeout, fmt::format("process {} still runs", pid_));
    if (errno != EINTR) return base::fail_errno("poll", errno);
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  ended_ = true;
  exit_ = WIFSIGNALED(status) ? Exit{.code = 0, .signal = WTERMSIG(status)}
                              : Exit{.code = WEXITSTATUS(status), .signal = 0};
  return exit_;
}

void Process::signal(int number) {
  if (!ended_) ::kill(-pid_, number);
}

void Process::kill() {
  if (ended_) return;
  signal(SIGKILL);
  (void)wait_exit(std::chrono::hours(1));  // The kernel keeps its word; an hour is for ever.
}

std::string Process::output() const {
  return contents(output_);
}

std::string Process::errors() const {
  return contents(errors_);
}

base::Result<Finished> run(const Command& command, base::Duration bound) {
  Process process = TRY(Process::start(command));
  const auto exit = process.wait_exit(bound);
  if (!exit) {
    return base::fail(exit.error().fault(), fmt::format("{}: {}\n{}{}", command.arguments.front(),
                                                        exit.error().message(), process.output(), process.errors()));
  }
  return Finished{.exit = *exit, .output = process.output(), .errors = process.errors()};
}

}  // namespace lab
