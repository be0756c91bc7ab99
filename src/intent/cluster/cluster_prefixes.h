#pragma once

#include <span>
#include <string>
#include <vector>

#include "api/node.h"

namespace intent {

// The cluster's own prefixes, to which no reply is ever steered: pods and internal addresses of all nodes, and what the
// administrator adds (text that is no prefix is left out). Neighbours are joined and what lies inside another is
// dropped, so that a thousand nodes with consecutive pod ranges are a few lines.
std::vector<std::string> cluster_prefixes(std::span<const api::Node* const> nodes,
                                          std::span<const std::string> cluster_cidrs);

}  // namespace intent
