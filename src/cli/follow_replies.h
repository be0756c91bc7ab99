#pragma once

#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/ask_node.h"
#include "cli/cluster_objects.h"
#include "cli/explain_service.h"
#include "cli/steering.h"

namespace cli {

// Replies of a Service's pods, followed through the kernels of their nodes.
struct FollowedReplies {
  Page page;
  std::string json;               // An array.
  bool right = true;              // All that could be followed leave by the table that is wanted.
  std::vector<std::string> gaps;  // Kernels that could not be asked.
};

// One pod on each node stands for the others there: the way of their replies is the same.
FollowedReplies follow_replies(const ClusterObjects& objects, const api::Service& service,
                               const std::vector<Steering>& steerings, const FollowReplies& follow, const AskNode& ask);

}  // namespace cli
