#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/cluster_objects.h"

namespace cli {

// Why replies of a Service go where they go, as far as the cluster's objects tell: which IPRule has its addresses, what
// was published for them, which nodes have reported it, and whether packets can meet it there. `what` is
// "svc/NAME" in the name space, or "vip/ADDRESS".
base::Result<Answer> explain_service(const ClusterObjects& objects, std::string_view what, const std::string& ns);

// Whether it is for explain_service() rather than a code.
bool names_service(std::string_view what);

}  // namespace cli
