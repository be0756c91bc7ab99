#include "cli/kubectl_proxy.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <climits>
#include <fmt/format.h>

#include "cli/last_line.h"

namespace cli {
namespace {

constexpr std::string_view kSocket = "/kubectl.sock";

// What an interrupt must not leave behind. A handler may use neither memory nor locks, so the names stand ready.
std::array<char, PATH_MAX> socket_to_remove;
std::array<char, PATH_MAX> folder_to_remove;

// What ends us, and what was to happen then before we came. What was ignored, as by nohup, stays ignored.
struct Interrupt {
  int signal = 0;
  struct sigaction before{};
  bool is_taken = false;
};
std::array<Interrupt, 3> interrupts = {Interrupt{.signal = SIGINT}, Interrupt{.signal = SIGTERM},
                                       Interrupt{.signal = SIGHUP}};

void give_interrupts_back() {
  for (Interrupt& one : interrupts) {
    if (std::exchange(one.is_taken, false)) (void)::sigaction(one.signal, &one.before, nullptr);
  }
}

void remove_and_end(int signal) {
  ::unlink(socket_to_remove.data());
  ::rmdir(folder_to_remove.data());
  give_interrupts_back();
  ::raise(signal);
}

void take_interrupts() {
  struct sigaction ours{};
  ours.sa_handler = remove_and_end;
  for (Interrupt& one : interrupts) {
    if (one.is_taken || ::sigaction(one.signal, nullptr, &one.before) != 0) continue;
    const bool is_ignored = (one.before.sa_flags & SA_SIGINFO) == 0 && one.before.sa_handler == SIG_IGN;
    one.is_taken = !is_ignored && ::sigaction(one.signal, &ours, nullptr) == 0;
  }
}

base::Status remove_when_interrupted(const std::string& folder) {
  if (folder.size() + kSocket.size() >= socket_to_remove.size()) {
    return base::fail(base::Fault::invalid, "TMPDIR: its name is too long");
  }
  std::memcpy(folder_to_remove.data(), folder.c_str(), folder.size() + 1);
  const std::string socket = folder + std::string(kSocket);
  std::memcpy(socket_to_remove.data(), socket.c_str(), socket.size() + 1);
  take_interrupts();
  return {};
}

// Ours alone: 0700.
base::Result<std::string> private_folder() {
  std::error_code error;
  const auto parent = std::filesystem::temp_directory_path(error);
  if (error) return base::fail_errno("TMPDIR", error.value());
  std::string name = (parent / "iprulectl-XXXXXX").native();
  if (::mkdtemp(name.data()) == nullptr) return base::fail_errno("make " + name, errno);
  return name;
}

}  // namespace

base::Result<std::unique_ptr<KubectlProxy>> KubectlProxy::start(const std::vector<std::string>& flags,
                                                                std::chrono::seconds patience) {
  const std::string folder = TRY(private_folder());
  if (const auto guarded = remove_when_interrupted(folder); !guarded) {
    ::rmdir(folder.c_str());
    return std::unexpected(guarded.error());
  }
  // kubectl keeps exec from those who find its proxy on a port. Nobody but us finds this one, and exec is how a node's
  // kernel is asked.
  std::vector<std::string> arguments = {"kubectl", "proxy", "--unix-socket=" + folder + std::string(kSocket),
                                        "--reject-paths=^$"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  auto process = lab::Process::start({.arguments = std::move(arguments)});
  if (!process) {
    ::rmdir(folder.c_str());
    give_interrupts_back();
    return std::unexpected(process.error());
  }
  std::unique_ptr<KubectlProxy> out(new KubectlProxy(folder, *std::move(process)));
  TRY(base::within("--via kubectl", out->wait_ready(patience)));
  return out;
}

base::Status KubectlProxy::wait_ready(std::chrono::seconds patience) {
  constexpr std::chrono::milliseconds kLook{20};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!process_.output().contains("Starting to serve")) {
    if (const auto ended = process_.wait_exit(kLook)) {
      const std::string said = last_line(process_.errors());
      return base::fail(base::Fault::unavailable, "kubectl: " + (said.empty() ? ended->text() : said));
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return base::fail(base::Fault::timeout, "kubectl proxy did not begin to serve in time");
    }
  }
  return {};
}

KubectlProxy::~KubectlProxy() {
  process_.kill();
  std::error_code ignored;  // Nobody can do more about it.
  std::filesystem::remove_all(folder_, ignored);
  give_interrupts_back();
}

http::Url KubectlProxy::server() const {
  return {.scheme = "http", .host = folder_.native() + std::string(kSocket), .port = 0, .path = {}};
}

}  // namespace cli
