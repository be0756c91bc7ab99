#pragma once

#include "base/result.h"
#include "kernel/netlink/attribute.h"

namespace kernel {

// What the kernel answered to a request, from NLMSG_ERROR or NLMSG_DONE (the error of a dump arrives inside it):
// success, or "kernel: EINVAL (Invalid table)" with errno, the kernel's own words where it has any (extended ack), and
// the Fault that fits.
base::Status decode_answer(const Received& message);

}  // namespace kernel
