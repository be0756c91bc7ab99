#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/answer.h"
#include "cli/ask_node.h"
#include "cli/cluster_objects.h"
#include "cli/diff_view.h"
#include "meta/time.h"

namespace cli {

// What nodes have not done of the published objects: by their kernels, through `ask`; where that cannot be, and where
// there is none, by what they have not reported, and the answer says so. `view` is for kernels.
base::Result<Answer> diff_in_cluster(const ClusterObjects& objects, const std::vector<std::string>& nodes,
                                     meta::Time now, const AskNode& ask = {}, const DiffView& view = {});

// All that is known of one node: what it has not done, what its data path shows, what others change there.
base::Result<Answer> explain_node(const ClusterObjects& objects, const std::string& node, meta::Time now,
                                  const AskNode& ask);

}  // namespace cli
