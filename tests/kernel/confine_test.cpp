// What a confined process can and cannot ask of the kernel, tried in a child: there is no way back.
#include "kernel/confine.h"

#include <cerrno>
#include <functional>
#include <linux/bpf.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "kernel/engine.h"
#include "kernel/facts.h"
#include "tests/kernel/sandbox.h"

namespace kernel {
namespace {

class Confine : public Sandbox {
 protected:
  // The errno of `call` in a confined child; 0 where it succeeds.
  static int confined(const std::function<long()>& call) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (!confine()) ::_exit(255);
      errno = 0;
      ::_exit(call() < 0 ? errno : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status)) << status;
    return WEXITSTATUS(status);
  }
};

TEST_F(Confine, T10_other_programs_processes_and_namespaces_are_out_of_reach) {
  char* const arguments[] = {nullptr};
  EXPECT_EQ(confined([&] { return ::execve("/bin/true", arguments, arguments); }), EPERM);
  EXPECT_EQ(confined([] { return ::syscall(SYS_execveat, AT_FDCWD, "/bin/true", nullptr, nullptr, 0); }), EPERM);
  EXPECT_EQ(confined([] { return ::unshare(CLONE_NEWNET); }), EPERM);
  EXPECT_EQ(confined([] { return ::syscall(SYS_setns, 0, 0); }), EPERM);
  EXPECT_EQ(confined([] { return ::mount("none", "/mnt", "tmpfs", 0, nullptr); }), EPERM);
#if !defined(__SANITIZE_ADDRESS__)  // The sanitizer's leak check needs these two.
  EXPECT_EQ(confined([] { return ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr); }), EPERM);
  EXPECT_EQ(confined([] { return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }), EPERM);
#endif
}

TEST_F(Confine, T10_code_in_the_kernel_keys_and_rings_are_out_of_reach) {
  EXPECT_EQ(confined([] { return ::syscall(SYS_bpf, BPF_PROG_LOAD, nullptr, 0); }), EPERM);
  EXPECT_EQ(confined([] { return ::syscall(SYS_keyctl, 0, 0, 0, 0, 0); }), EPERM);
  EXPECT_EQ(confined([] { return ::syscall(SYS_io_uring_setup, 1, nullptr); }), EPERM);
  EXPECT_EQ(confined([] { return ::syscall(SYS_init_module, nullptr, 0, ""); }), EPERM);
  EXPECT_EQ(confined([] { return ::syscall(SYS_kexec_load, 0, 0, nullptr, 0); }), EPERM);
}

TEST_F(Confine, T10_no_sockets_but_streams_names_routing_and_netfilter) {
  EXPECT_EQ(confined([] { return ::socket(AF_PACKET, SOCK_RAW, 0); }), EPERM);
  EXPECT_EQ(confined([] { return ::socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); }), EPERM);
  EXPECT_EQ(confined([] { return ::socket(AF_UNIX, SOCK_STREAM, 0); }), EPERM);
  EXPECT_EQ(confined([] { return ::socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT); }), EPERM);
  EXPECT_EQ(confined([] { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }), 0);
  EXPECT_EQ(confined([] { return ::socket(AF_INET6, SOCK_DGRAM, 0); }), 0);
  EXPECT_EQ(confined([] { return ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE); }), 0);
  EXPECT_EQ(confined([] { return ::socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER); }), 0);
}

TEST_F(Confine, the_engine_works_and_threads_start) {
  const auto work = [] {
    std::jthread([] {}).join();
    auto engine = Engine::open({});
    if (!engine) return -1L;
    state::Rule rule{.priority = 500, .protocol = 183, .table = 100};
    rule.selector.from = net::Prefix::parse("10.0.0.7/32").value();
    const auto report = engine->converge({.rules = {rule}}, {});
    return report && report->settled() ? 0L : -1L;
  };
  EXPECT_EQ(confined(work), 0);
  EXPECT_EQ(run("ip rule show priority 500"), "500:\tfrom 10.0.0.7 lookup 100 proto 183\n");
}

TEST_F(Confine, what_is_to_be_known_of_the_node_is_found_out) {
  const auto look = [] {
    auto socket = Socket::open(Bus::route);
    const auto facts = socket ? read_facts(*socket, {}, {}) : std::unexpected(socket.error());
    if (facts && facts->conntrack && facts->nftables && facts->local_rule_priority) return 0L;
    errno = ENODATA;
    return -1L;
  };
  EXPECT_EQ(confined(look), 0);
  EXPECT_EQ(confined([] {
              rlimit limit{};
              return ::getrlimit(RLIMIT_NOFILE, &limit);
            }),
            0);
}

TEST_F(Confine, at_most_sixty_calls_are_allowed) {
  EXPECT_LE(confined_calls(), 60U);
}

}  // namespace
}  // namespace kernel
