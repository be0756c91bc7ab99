#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/agent.h"
#include "base/result.h"

namespace agent {

// All Agents that there are, and as of when.
struct AgentList {
  std::uint64_t version = 0;
  std::vector<api::Agent> agents;
};

// Much follows from an Agent that is not there: whatever else an answer may be (a Status, a page of something longer,
// what a proxy has made up) is an error.
base::Result<AgentList> decode_agent_list(std::string_view body);

}  // namespace agent
