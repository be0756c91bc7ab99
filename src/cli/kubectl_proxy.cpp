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

namespace cli {
namespace {

constexpr std::string_view kSocket = "/kubectl.sock";

// What an interrupt must not leave behind. A handler may use neither memory nor locks, so the names stand ready.
std::array<char, PATH_MAX> socket_to_remove;
std::array<char, PATH_MAX> folder_to_remove;

void remove_and_end(int signal) {
  ::unlink(socket_to_remove.data());
  ::rmdir(folder_to_remove.data());
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

base::Status remove_when_interrupted(const std::string& folder) {
  if (folder.size() + kSocket.size() >= socket_to_remove.size()) {
    return base::fail(base::Fault::invalid, "TMPDIR: its name is too long");
  }
  std::memcpy(folder_to_remove.data(), folder.c_str(), folder.size() + 1);
  const std::string socket = folder + std::string(kSocket);
  std::memcpy(socket_to_remove.data(), socket.c_str(), socket.size() + 1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, remove_and_end);
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

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

base::Result<std::unique_ptr<KubectlProxy>> KubectlProxy::start(const std::vector<std::string>& flags,
                                                                std::chrono::seconds patience) {
  const std::string folder = TRY(private_folder());
  TRY(remove_when_interrupted(folder));
  // kubectl keeps exec from those who find its proxy on a port. Nobody but us finds this one, and exec is how a node's
  // kernel is asked.
  std::vector<std::string> arguments = {"kubectl", "proxy", "--unix-socket=" + folder + std::string(kSocket),
                                        "--reject-paths=^$"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  auto process = lab::Process::start({.arguments = std::move(arguments)});
  if (!process) {
    ::rmdir(folder.c_str());
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
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
}

http::Url KubectlProxy::server() const {
  return {.scheme = "http", .host = folder_.native() + std::string(kSocket), .port = 0, .path = {}};
}

}  // namespace cli
