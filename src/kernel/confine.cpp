#include "kernel/confine.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace kernel {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
#error "name the AUDIT_ARCH of this machine"
#endif

constexpr std::array kAllowed = {
    // Files: /proc, certificates, tokens, resolv.conf.
    SYS_openat,
    SYS_close,
    SYS_read,
    SYS_write,
    SYS_writev,
    SYS_lseek,
    SYS_fcntl,
    SYS_newfstatat,
    SYS_getdents64,
    // Memory.
    SYS_brk,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    // Threads, their signals and their end.
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_tgkill,
    SYS_gettid,
    SYS_getpid,
    SYS_sched_yield,
    SYS_restart_syscall,
    SYS_exit,
    SYS_exit_group,
    // Sockets, once they are open.
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_shutdown,
    SYS_sendto,
    SYS_sendmsg,
    SYS_sendmmsg,
    SYS_recvfrom,
    SYS_recvmsg,
    SYS_getsockname,
    SYS_getpeername,
    SYS_setsockopt,
    SYS_getsockopt,
    // Waiting.
    SYS_ppoll,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_eventfd2,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_clock_nanosleep,
    // What they are told about the host and the time.
    SYS_uname,
    SYS_getrandom,
    SYS_clock_gettime,
#if defined(__x86_64__)  // What the C library and Asio still use there, under their older names.
    SYS_poll,
    SYS_epoll_wait,
#endif
};

#if defined(__SANITIZE_ADDRESS__)  // Its leak check stops the process by a tracer at the end.
constexpr std::array kForSanitizer = {SYS_ptrace,       SYS_wait4,
                                      SYS_prctl,        SYS_getppid,
                                      SYS_pipe2,        SYS_process_vm_readv,
                                      SYS_prlimit64,    SYS_clock_getres,
                                      SYS_open,         SYS_getdents,
                                      SYS_readlink,     SYS_sigaltstack,
                                      SYS_rt_sigaction, SYS_sched_getaffinity,
                                      SYS_getuid};
#else
constexpr std::array<long, 0> kForSanitizer = {};
#endif

using Code = std::vector<sock_filter>;

constexpr std::uint32_t kDeny = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

// The lower half of an argument, where all that matters here is found on both machines.
sock_filter load_argument(std::size_t index) {
  return load(offsetof(seccomp_data, args) + index * sizeof(std::uint64_t));
}

sock_filter answer(std::uint32_t verdict) {
  return BPF_STMT(BPF_RET | BPF_K, verdict);
}

// Whatever is loaded is compared; where it equals `value`, `then` follows, and else what comes after it.
void when(Code& code, std::uint32_t value, const Code& then) {
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, static_cast<std::uint8_t>(then.size())));
  code.insert(code.end(), then.begin(), then.end());
}

void allow_when(Code& code, std::uint32_t value) {
  when(code, value, {answer(kAllow)});
}

Code streams_and_datagrams() {
  constexpr std::uint32_t kTypes = 0xf;  // SOCK_CLOEXEC and SOCK_NONBLOCK are above.
  Code code = {load_argument(1), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kTypes)};
  allow_when(code, SOCK_STREAM);
  allow_when(code, SOCK_DGRAM);
  code.push_back(answer(kDeny));
  return code;
}

Code routing_and_netfilter() {
  Code code = {load_argument(2)};
  allow_when(code, NETLINK_ROUTE);
  allow_when(code, NETLINK_NETFILTER);
  code.push_back(answer(kDeny));
  return code;
}

Code sockets() {
  Code code = {load_argument(0)};
  when(code, AF_INET, streams_and_datagrams());
  when(code, AF_INET6, streams_and_datagrams());
  when(code, AF_NETLINK, routing_and_netfilter());
  code.push_back(answer(kDeny));
  return code;
}

// A thread of this process, never another process.
Code threads() {
#if defined(__SANITIZE_ADDRESS__)  // Its tracer is one.
  return {answer(kAllow)};
#else
  return {load_argument(0), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1), answer(kAllow), answer(kDeny)};
#endif
}

// What the process may use, which its metrics tell; never what another may.
Code own_limits() {
  Code code = {load_argument(0)};
  allow_when(code, 0);
  code.push_back(answer(kDeny));
  return code;
}

// Asio asks whether a read would wait, and that it shall not.
Code ways_to_wait() {
  Code code = {load_argument(1)};
  allow_when(code, FIONBIO);
  allow_when(code, FIONREAD);
  code.push_back(answer(kDeny));
  return code;
}

Code program() {
  Code code = {load(offsetof(seccomp_data, arch)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0),
               answer(SECCOMP_RET_KILL_PROCESS), load(offsetof(seccomp_data, nr))};
  for (const long call : kAllowed) allow_when(code, static_cast<std::uint32_t>(call));
  for (const long call : kForSanitizer) allow_when(code, static_cast<std::uint32_t>(call));
  when(code, SYS_socket, sockets());
  when(code, SYS_clone, threads());
  when(code, SYS_ioctl, ways_to_wait());
  when(code, SYS_prlimit64, own_limits());
  // Its flags are out of a filter's sight; told that there is no such call, the C library uses clone.
  when(code, SYS_clone3, {answer(SECCOMP_RET_ERRNO | ENOSYS)});
  code.push_back(answer(kDeny));
  return code;
}

#if defined(__SANITIZE_ADDRESS__)
bool leaks_are_looked_for = true;
#endif

}  // namespace

base::Status confine() {
  Code code = program();
  const sock_fprog filter{.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return base::fail_errno("no_new_privs", errno);
  // On all threads at once. A positive answer names one that has a filter of its own.
  const long answered = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
  if (answered < 0) return base::fail_errno("seccomp", errno);
  if (answered > 0) return base::fail(base::Fault::bug, "seccomp: another thread has a filter of its own");
#if defined(__SANITIZE_ADDRESS__)
  leaks_are_looked_for = false;
#endif
  return {};
}

std::size_t confined_calls() {
  constexpr std::size_t kByArgument = 4;  // socket, clone, ioctl, prlimit64
  return kAllowed.size() + kByArgument;
}

}  // namespace kernel

#if defined(__SANITIZE_ADDRESS__)
// The sanitizer asks this at the end. Its check has a tracer stop every thread, and a confined process, on a busy
// machine, was once seen not to end; what leaks is found where the same code runs unconfined.
extern "C" int __lsan_is_turned_off();   // NOLINT(bugprone-reserved-identifier)
extern "C" int __lsan_is_turned_off() {  // NOLINT(bugprone-reserved-identifier)
  return kernel::leaks_are_looked_for ? 0 : 1;
}
#endif
