#pragma once

#include "base/result.h"
#include "cli/answer.h"
#include "cli/cluster_objects.h"
#include "cli/explain_service.h"

namespace cli {

// Why one of our own objects is as it is: what it says, what it steers, what became of that on which nodes, and what is
// wrong with it. `subject` names an IPRule, an IPRuleConfig or an Agent.
base::Result<Answer> explain_object(const ClusterObjects& objects, const Subject& subject);

}  // namespace cli
