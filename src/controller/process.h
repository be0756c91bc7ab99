#pragma once

#include <stop_token>

#include "base/result.h"
#include "controller/options.h"
#include "kube/config.h"

namespace controller {

// The controller as a process. Probes and metrics answer from the start; what is watched is followed from the start,
// so that a standby is up to date when its turn comes; the work begins when this process leads. Returns when stopped,
// after the lease was released, or with an error when the lease was lost: then somebody else may be working already.
base::Status run(const Options& options, const kube::Config& config, std::stop_token stop);

}  // namespace controller
