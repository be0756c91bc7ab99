#include "kube/exec_plugin.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/fd.h"
#include "json/reader.h"
#include "json/writer.h"

namespace kube {
namespace {

using base::fail;
using base::Fault;

constexpr std::size_t kLongestAnswer = 1U << 20U;
constexpr std::chrono::milliseconds kLookAgain{20};

std::string question(const ExecPlugin& plugin, bool interactive) {
  return json::object([&](json::Object& out) {
    out.put("apiVersion", plugin.api_version);
    out.put("kind", "ExecCredential");
    out.object("spec", [&](json::Object& spec) {
      spec.put("interactive", interactive);
      if (plugin.wants_cluster) spec.put_json("cluster", plugin.cluster);
    });
  });
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// The environment as the plugin sees it: what it is given stands in for ours of the same name.
std::vector<std::string> environment_of(const ExecPlugin& plugin, bool interactive) {
  std::vector<std::string> out = plugin.environment;
  out.push_back("KUBERNETES_EXEC_INFO=" + question(plugin, interactive));
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view ours = *one;
    const auto name = ours.substr(0, ours.find('=') + 1);
    bool is_replaced = false;
    for (const std::string& given : out) is_replaced = is_replaced || given.starts_with(name);
    if (!is_replaced) out.emplace_back(ours);
  }
  return out;
}

struct Child {
  pid_t pid = -1;
  base::Fd output;

  ~Child() {
    if (pid > 0) ::kill(pid, SIGKILL), (void)wait();
  }
  int wait() {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    pid = -1;
    return status;
  }
  std::optional<int> status_if_ended() {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == 0) return std::nullopt;
    pid = -1;
    return status;
  }
};

base::Status start(Child& child, const ExecPlugin& plugin, bool interactive) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::fail_errno("pipe", errno);
  child.output.reset(ends[0]);
  const base::Fd write_end(ends[1]);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  if (!interactive) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  std::vector<std::string> arguments = plugin.arguments;
  arguments.insert(arguments.begin(), plugin.command);
  std::vector<std::string> environment = environment_of(plugin, interactive);
  posix_spawnattr_t attributes;  // Our threads block signals; a plugin must end when it is told to.
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error = ::posix_spawnp(&child.pid, plugin.command.c_str(), &actions, &attributes,
                                   pointers(arguments).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return {};
  child.pid = -1;
  const std::string hint = plugin.install_hint.empty() ? "" : "\n" + plugin.install_hint;
  return fail(Fault::unavailable, base::fail_errno("start", error).error().message() + hint);
}

// How long somebody waits for a plugin: until a deadline, or until he is stopped.
class Patience {
 public:
  Patience(base::TimePoint deadline, std::stop_token stop)
      : deadline_(deadline),
        stop_(std::move(stop)),
        on_stop_(stop_, [this] { (void)::eventfd_write(woken_.get(), 1); }) {}

  // Whether `fd` is ready within `moment`; an error where patience is at its end, for `want` of something.
  base::Result<bool> wait(const base::Fd& fd, std::chrono::milliseconds moment, const char* want) const {
    if (stop_.stop_requested()) return fail(Fault::cancelled, "stopped");
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - base::now());
    if (left.count() <= 0) return fail(Fault::timeout, want);
    std::array<pollfd, 2> ready = {pollfd{fd.get(), POLLIN, 0}, pollfd{woken_.get(), POLLIN, 0}};
    return ::poll(ready.data(), ready.size(), static_cast<int>(std::min(left, moment).count())) > 0 &&
           ready[0].revents != 0;
  }

 private:
  const base::TimePoint deadline_;
  const std::stop_token stop_;
  const base::Fd woken_{::eventfd(0, EFD_CLOEXEC)};
  const std::stop_callback<std::function<void()>> on_stop_;
};

base::Result<std::string> read_answer(const base::Fd& output, const Patience& patience) {
  std::string answer;
  std::array<char, 4096> buffer;
  for (;;) {
    if (!TRY(patience.wait(output, std::chrono::milliseconds::max(), "no answer in time"))) continue;
    const ssize_t got = ::read(output.get(), buffer.data(), buffer.size());
    if (got < 0) return base::fail_errno("read", errno);
    if (got == 0) return answer;
    answer.append(buffer.data(), static_cast<std::size_t>(got));
    if (answer.size() > kLongestAnswer) return fail(Fault::invalid, "its answer is too long");
  }
}

// Its status. Who has closed its output may live on, and whoever wants a token would wait with us.
base::Result<int> end_of(Child& child, const Patience& patience) {
  // There need be no such handle: Linux before 5.3 has none, seccomp may refuse it, descriptors may be used up. Then
  // poll() only waits, and we look again and again.
  const base::Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  for (;;) {
    if (const auto status = child.status_if_ended()) return *status;
    (void)TRY(patience.wait(handle, kLookAgain, "it closed its output and did not end"));
  }
}

base::Result<ExecCredential> run(const ExecPlugin& plugin, base::Duration bound, std::stop_token stop) {
  const bool is_terminal = ::isatty(STDIN_FILENO) == 1;
  if (plugin.interactive == ExecPlugin::Interactive::always && !is_terminal) {
    return fail(Fault::unavailable, "it wants to ask a person, and standard input is no terminal");
  }
  Child child;
  TRY(start(child, plugin, is_terminal && plugin.interactive != ExecPlugin::Interactive::never));
  const Patience patience(base::now() + bound, std::move(stop));
  const std::string answer = TRY(read_answer(child.output, patience));
  const int status = TRY(end_of(child, patience));
  if (WIFSIGNALED(status)) return fail(Fault::unavailable, fmt::format("ended by signal {}", WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) return fail(Fault::unavailable, fmt::format("exit code {}", WEXITSTATUS(status)));
  return decode_exec_credential(answer, plugin.api_version);
}

}  // namespace

base::Result<ExecCredential> decode_exec_credential(std::string_view answer, std::string_view api_version) {
  json::Reader reader;
  const auto root = TRY(reader.parse(answer));
  if (TRY(root["kind"].string_or("")) != "ExecCredential") return root["kind"].fail("expected ExecCredential");
  if (TRY(root["apiVersion"].string_or("")) != api_version) {
    return root["apiVersion"].fail(fmt::format("expected {}, as it was asked", api_version));
  }
  const auto status = root["status"];
  ExecCredential out;
  out.token = TRY(status["token"].string_or(""));
  out.certificate = TRY(status["clientCertificateData"].string_or(""));
  out.key = TRY(status["clientKeyData"].string_or(""));
  if (out.certificate.empty() != out.key.empty()) {
    return status.fail("clientCertificateData and clientKeyData come together or not at all");
  }
  if (out.token.empty() && out.certificate.empty()) return status.fail("neither a token nor a certificate");
  const auto expiration = status["expirationTimestamp"];
  if (const auto expires = TRY(expiration.string_or("")); !expires.empty()) {
    const auto time = meta::parse_time(expires);
    if (!time) return expiration.fail("expected a time, such as 2026-01-31T10:00:00Z");  // A token may stand there.
    out.expires = *time;
  }
  return out;
}

base::Result<ExecCredential> ask(const ExecPlugin& plugin, base::Duration bound, std::stop_token stop) {
  return base::within(fmt::format("credential plugin {}", plugin.command), run(plugin, bound, std::move(stop)));
}

}  // namespace kube
