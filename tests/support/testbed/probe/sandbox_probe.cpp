// A program that enters the sandbox and then does what its first argument says; sandbox_test watches it from outside.
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/fd.h"
#include "lab/sandbox.h"

namespace {

// What a packet to the outside meets: "Network is unreachable" in a namespace without a way out.
int connect_outside() {
  const base::Fd socket(::socket(AF_INET, SOCK_DGRAM, 0));
  sockaddr_in outside{};
  outside.sin_family = AF_INET;
  outside.sin_port = htons(9);
  ::inet_pton(AF_INET, "198.51.100.1", &outside.sin_addr);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&outside), sizeof outside) == 0 ? 0 : errno;
}

void list_run() {
  for (const auto& entry : std::filesystem::directory_iterator("/run"))
    fmt::print("{}\n", entry.path().filename().native());
}

// A grandchild that nobody waits for, and which must not outlive the sandbox.
void leave_orphan(const char* seconds) {
  if (::fork() == 0) {
    ::execlp("sleep", "sleep", seconds, nullptr);
    ::_exit(1);
  }
}

int act(std::string_view what, const char* argument) {
  if (what == "exit") return std::atoi(argument);
  if (what == "raise") return ::raise(std::atoi(argument));
  if (what == "connect") fmt::print("{}\n", std::strerror(connect_outside()));
  if (what == "run") list_run();
  if (what == "whoami") fmt::print("{} {}\n", ::getpid(), ::geteuid());
  if (what == "orphan") leave_orphan(argument);
  if (what == "wait") {
    leave_orphan(argument);
    fmt::print("waiting\n");
    std::fflush(stdout);
    ::pause();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (const base::Status entered = lab::enter_sandbox(argv); !entered) {
    fmt::print(stderr, "{}\n", entered.error().message());
    return 99;
  }
  return act(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
}
