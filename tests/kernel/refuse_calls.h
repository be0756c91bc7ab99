#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

// System calls that fail as they do when the kernel is short of something: real calls, with the errno of our choice.
// For the calling thread and for good, so a test does it in a thread of its own.

// Every call of this number whose argument at `position` is at least `least`.
inline bool refuse_calls(std::uint32_t call, std::uint32_t error, unsigned position = 0, std::uint32_t least = 0) {
  // The low half of the argument; programs of this size never have more.
  const auto argument = static_cast<std::uint32_t>(offsetof(seccomp_data, args) + position * sizeof(std::uint64_t));
  std::array program = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, least, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}
