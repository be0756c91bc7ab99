#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/scene.h"

namespace cli {

// What a cluster has beside the manifests of the lab, which a folder does without.

// The Nodes, with their addresses in the cluster, in the same order, in their status.
std::string lab_nodes(const std::vector<lab::SceneNode>& nodes, const std::vector<lab::AddressPair>& addresses);

// The endpoints that somebody found for the Services.
std::string lab_endpoints(const std::vector<lab::SceneNode>& nodes);

// The Agent, and its pods as a scheduler binds them. No kubelet runs them: the lab starts the agents itself.
std::string lab_agents(const std::vector<lab::SceneNode>& nodes, std::string_view ns);
std::string lab_agent_pod(const lab::SceneNode& node);  // Its name.

}  // namespace cli
