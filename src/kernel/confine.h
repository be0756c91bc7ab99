#pragma once

#include <cstddef>

#include "base/result.h"

namespace kernel {

// From now on this process, with all its threads, may ask the kernel only for what an agent needs: files, memory,
// threads of its own, streams and name look-ups over IP, and netlink to routing and netfilter. It cannot run programs,
// make other processes or namespaces, mount, trace, load code into the kernel, or open raw and packet sockets. What is
// not allowed fails with EPERM. There is no way back. Fails where the kernel has no filters; nothing has changed then.
base::Status confine();

// How many system calls are allowed, those included that are allowed only for some arguments.
std::size_t confined_calls();

}  // namespace kernel
