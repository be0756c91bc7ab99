#pragma once

#include <vector>

#include "agent/manifests.h"
#include "cli/finding.h"
#include "cli/node_sight.h"

namespace cli {

// What is wrong or surprising in the objects by themselves and, as far as nodes are known, on these; the worst first.
// The annotation iprule.operator.brtrm.dev/ignore-findings of an IPRule silences the codes it names for that object.
std::vector<Finding> findings_in(const agent::Manifests& objects, const std::vector<NodeSight>& nodes = {});

}  // namespace cli
