#pragma once

#include <cerrno>
#include <sched.h>

#include "base/result.h"

namespace bench {

// Every go starts in a new network namespace, as empty as the first.
inline base::Status fresh_namespace() {
  if (::unshare(CLONE_NEWNET) != 0) return base::fail_errno("unshare", errno);
  return {};
}

}  // namespace bench
