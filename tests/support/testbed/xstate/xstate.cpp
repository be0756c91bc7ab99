// User-mode Linux 6.1 has 2696 bytes for the extended registers of a process, which is all there is up to AVX-512. The
// kernel below takes them back in one size only, that of its processor, and this is more where there is AMX: there each
// guest would die with its first program. Loaded before it (LD_PRELOAD), this gives the kernel the whole of what it has
// told, with the guest's part put in; the rest is AMX's, which nobody in a guest has asked to use.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <linux/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

namespace {

using Call = long (*)(long, pid_t, void*, void*);

Call next() {
  static const Call call = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "ptrace"));
  return call;
}

// Its stacks are small, and it is one thread.
std::array<std::byte, 1U << 16U> buffer;

long get(pid_t pid, void* kind, iovec& part) {
  iovec whole{.iov_base = buffer.data(), .iov_len = buffer.size()};
  const long result = next()(PTRACE_GETREGSET, pid, kind, &whole);
  if (result < 0) return result;
  part.iov_len = std::min(part.iov_len, whole.iov_len);
  std::memcpy(part.iov_base, buffer.data(), part.iov_len);
  return result;
}

long set(pid_t pid, void* kind, const iovec& part) {
  iovec whole{.iov_base = buffer.data(), .iov_len = buffer.size()};
  const long result = next()(PTRACE_GETREGSET, pid, kind, &whole);
  if (result < 0) return result;
  std::memcpy(buffer.data(), part.iov_base, std::min(part.iov_len, whole.iov_len));
  return next()(PTRACE_SETREGSET, pid, kind, &whole);
}

}  // namespace

// The C library declares it with any arguments, which come in the same registers.
extern "C" long ptrace(long request, pid_t pid, void* address, void* data) {
  const bool is_extended = reinterpret_cast<std::size_t>(address) == NT_X86_XSTATE;
  if (request == PTRACE_GETREGSET && is_extended) return get(pid, address, *static_cast<iovec*>(data));
  if (request == PTRACE_SETREGSET && is_extended) return set(pid, address, *static_cast<iovec*>(data));
  return next()(request, pid, address, data);
}
