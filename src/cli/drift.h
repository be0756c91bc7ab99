#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/cluster_objects.h"
#include "meta/time.h"

namespace cli {

// Where somebody else keeps changing what is ours, or has rules beside it, by what agents report; with `since`, only
// what began or ended within so long.
base::Result<Answer> drift_in_cluster(const ClusterObjects& objects, const std::vector<std::string>& nodes,
                                      meta::Time now, std::optional<std::chrono::seconds> since = {});

}  // namespace cli
